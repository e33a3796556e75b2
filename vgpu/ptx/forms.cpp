#include "vgpu/ptx/forms.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::vgpu::ptx {

std::string describe(const Forms& forms) {
  std::uint64_t total = 0;
  for (const auto& [opcode, count] : forms.opcodes) total += count;
  std::vector<std::pair<std::string, std::uint64_t>> sorted(forms.forms.begin(), forms.forms.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& left, const auto& right) { return left.second > right.second; });
  std::string text = fmt::format("{} instructions, {} opcodes, {} forms\n", total,
                                 forms.opcodes.size(), forms.forms.size());
  for (const auto& [form, count] : sorted) text += fmt::format("{:>7}  {}\n", count, form);
  return text;
}

}  // namespace tw::vgpu::ptx
