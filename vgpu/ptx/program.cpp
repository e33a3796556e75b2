#include "vgpu/ptx/program.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::vgpu::ptx {

const char* name_of(Space space) {
  switch (space) {
    case Space::Parameter: return "param";
    case Space::Shared: return "shared";
    case Space::Local: return "local";
    case Space::Global: return "global";
    case Space::Constant: return "const";
  }
  return "unknown";
}

unsigned bytes_of_type(std::string_view type) {
  const std::size_t digits = type.find_first_of("0123456789");
  if (digits == std::string_view::npos || digits != 1) return 0;  // b32, u64, f16x2: one letter
  unsigned bits = 0;
  std::size_t at = digits;
  while (at < type.size() && type[at] >= '0' && type[at] <= '9' && bits < 1000) {
    bits = 10 * bits + static_cast<unsigned>(type[at++] - '0');
  }
  if (type.substr(at) == "x2") bits *= 2;
  return bits / 8;
}

std::uint64_t Variable::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : extents) count *= extent;
  return count;
}

std::uint64_t Variable::bytes() const { return elements() * vector * bytes_of_type(type); }

const RegisterRange& Function::range_of(std::uint32_t number) const {
  const auto behind = std::upper_bound(
      registers.begin(), registers.end(), number,
      [](std::uint32_t wanted, const auto& range) { return wanted < range.first; });
  return *(behind - 1);
}

std::string Function::register_name(std::uint32_t number) const {
  const RegisterRange& range = range_of(number);
  const std::uint32_t at = number - range.first;
  const std::string component = range.vector == 1 ? "" : fmt::format(".{}", "xyzw"[at % 4]);
  if (!range.is_numbered) return range.prefix + component;
  return fmt::format("{}{}{}", range.prefix, at / range.vector, component);
}

const Function* Module::find_entry(std::string_view name) const {
  for (const Function& function : functions) {
    if (function.is_entry && function.has_body && function.name == name) return &function;
  }
  return nullptr;
}

std::string Module::source_line(const Instruction& instruction) const {
  if (instruction.location < 0) return "";
  const Location& location = locations[static_cast<std::size_t>(instruction.location)];
  for (const auto& [number, name] : files) {
    if (number == location.file) return fmt::format("{}:{}", name, location.line);
  }
  return "";
}

}  // namespace tw::vgpu::ptx
