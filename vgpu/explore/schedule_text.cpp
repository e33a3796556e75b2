#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "vgpu/explore/exploration.h"

namespace tw::vgpu {
namespace {

constexpr std::uint32_t most_steps = 1'000'000;

[[noreturn]] void refuse(const std::string& text, const std::string& word) {
  throw std::runtime_error(fmt::format(
      "The schedule '{}' has '{}', but its parts are THREAD, THREAD*STEPS or THREAD'LANDING.", text,
      word));
}

// Takes a number off the front of `rest`.
bool take_number(std::uint32_t& number, std::string_view& rest) {
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc()) return false;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return true;
}

void add_part(std::vector<Process>& schedule, const std::string& text, const std::string& word) {
  std::string_view rest = word;
  Process process;
  std::uint32_t steps = 1;
  if (!take_number(process.thread, rest)) refuse(text, word);
  if (!rest.empty()) {
    const char sign = rest[0];
    rest.remove_prefix(1);
    if (sign != '*' && sign != '\'') refuse(text, word);
    std::uint32_t& number = sign == '*' ? steps : process.landing;
    if (!take_number(number, rest) || number == 0 || !rest.empty()) refuse(text, word);
  }
  if (steps > most_steps || schedule.size() + steps > most_steps) refuse(text, word);
  schedule.insert(schedule.end(), steps, process);
}

}  // namespace

std::string to_text(const std::vector<Process>& schedule) {
  std::string text;
  for (std::size_t i = 0; i < schedule.size();) {
    std::size_t end = i + 1;
    while (end < schedule.size() && schedule[end] == schedule[i]) ++end;
    text += text.empty() ? "" : ",";
    text += fmt::format("{}", schedule[i].thread);
    if (schedule[i].landing != 0) text += fmt::format("'{}", schedule[i].landing);
    if (end - i > 1) text += fmt::format("*{}", end - i);
    i = end;
  }
  return text;
}

std::vector<Process> schedule_of(const std::string& text) {
  std::vector<Process> schedule;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    add_part(schedule, text, text.substr(begin, end - begin));
    begin = end + 1;
  }
  return schedule;
}

}  // namespace tw::vgpu
