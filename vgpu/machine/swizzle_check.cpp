#include "vgpu/machine/swizzle_check.h"

#include <fmt/format.h>

namespace tw::vgpu {
namespace {

constexpr std::uint32_t pattern_bytes(MapSwizzle swizzle) { return 8 * swizzle_span(swizzle); }

void report_pattern(Engine& machine, const Cta& cta, std::uint32_t offset, MapSwizzle swizzle,
                    const char* instruction, const std::string& what) {
  machine.report(Checker::Alignment, place_stage(cta, offset), instruction, [&] {
    return fmt::format(
        "The {} gives {} {}, {} bytes behind the beginning of a pattern: a swizzle of {} bytes "
        "repeats after {}, and what it is applied to begins there.",
        who(machine.current()), instruction, what, offset % pattern_bytes(swizzle),
        swizzle_span(swizzle), pattern_bytes(swizzle));
  });
}

}  // namespace

void check_box_pattern(Engine& machine, SharedAddress box, std::uint32_t bytes, MapSwizzle swizzle,
                       const char* instruction) {
  if (machine.launch.place) return;  // a text computes addresses as it likes
  const std::uint32_t pattern = pattern_bytes(swizzle);
  if (swizzle == MapSwizzle::None || bytes % pattern != 0 || box % pattern == 0) return;
  const SharedPlace place = machine.resolve(box, bytes, instruction);
  report_pattern(machine, *place.cta, place.offset, swizzle, instruction,
                 fmt::format("a box at {}", place_name(*place.cta, place.offset)));
}

void check_operand_pattern(Engine& machine, const Cta& cta, SharedAddress start, MapSwizzle swizzle,
                           const char* instruction) {
  if (swizzle == MapSwizzle::None || start < window_begin) return;
  const Region* const region = cta.regions.find(start - window_begin);
  if (region == nullptr || region->begin % pattern_bytes(swizzle) == 0) return;
  report_pattern(machine, cta, region->begin, swizzle, instruction,
                 fmt::format("an operand in {}", place_name(cta, region->begin)));
}

}  // namespace tw::vgpu
