#include "src/layout_tool/banks.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::layout_tool {

int bank_of(std::int64_t offset, int element_bytes, const SharedMemory& memory) {
  const std::int64_t period = std::int64_t{memory.banks} * bank_bytes;
  // Reduced first, so that no offset is too large; a negative one counts from the end.
  const std::int64_t byte = (offset % period + period) % period * element_bytes % period;
  return static_cast<int>(byte / bank_bytes);
}

std::vector<WantedWords> words_by_bank(const Grid& grid, const Access& access, const Phase& phase) {
  std::vector<WantedWords> result(static_cast<std::size_t>(access.memory.banks));
  for (const LaneRead& read : phase) {
    const std::int64_t byte =
        checked_product(grid.offset(read.row, read.column), access.element_bytes);
    const std::int64_t last = byte + access.bytes_per_lane() - 1;
    for (std::int64_t word = byte / bank_bytes; word <= last / bank_bytes; ++word) {
      WantedWords& wanted = result[static_cast<std::size_t>(word % access.memory.banks)];
      const bool is_known = std::any_of(wanted.begin(), wanted.end(),
                                        [&](const WantedWord& one) { return one.word == word; });
      if (!is_known) wanted.push_back({word, read.lane});
    }
  }
  return result;
}

Conflicts count_conflicts(const Grid& grid, const Access& access) {
  Conflicts result;
  for (const Phase& phase : access.phases) {
    int wavefronts = 0;
    for (const WantedWords& wanted : words_by_bank(grid, access, phase)) {
      wavefronts = std::max(wavefronts, static_cast<int>(wanted.size()));
    }
    if (wavefronts > result.most) result.worst_phase = static_cast<std::size_t>(result.phases);
    result.most = std::max(result.most, wavefronts);
    result.fewest = result.phases == 0 ? wavefronts : std::min(result.fewest, wavefronts);
    result.wavefronts += wavefronts;
    ++result.phases;
  }
  return result;
}

std::string verdict(const Conflicts& conflicts) {
  if (conflicts.is_free()) return "no conflict";
  const char* up_to = conflicts.fewest == conflicts.most ? "" : "up to ";
  return fmt::format("{}{}-way conflict", up_to, conflicts.most);
}

std::string describe(const Access& access, const Conflicts& conflicts) {
  auto counted = [](std::int64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string each = counted(conflicts.most, "wavefront");
  if (conflicts.fewest != conflicts.most) each = fmt::format("{} to {}", conflicts.fewest, each);
  const std::string phases =
      conflicts.phases == 1 ? "the phase" : fmt::format("each of {} phases", conflicts.phases);
  const std::size_t lanes = access.phases.front().size();
  const char* up_to = access.phases.back().size() == lanes ? "" : "up to ";
  return fmt::format("{}: {}, {} for {} of {}{} lanes x {}, {} in all", access.name,
                     verdict(conflicts), each, phases, up_to, lanes,
                     counted(access.bytes_per_lane(), "byte"), conflicts.wavefronts);
}

}  // namespace tw::layout_tool
