#include "src/bench/planned.h"

namespace tw::bench {

namespace {

// The word behind an option of a plan's command.
std::string option_of(const std::string& command, const std::string& option) {
  const std::size_t at = command.find(" " + option + " ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + option.size() + 2;
  return command.substr(begin, command.find(' ', begin) - begin);
}

}  // namespace

std::string name_in_command(const std::string& command) {
  std::string name = option_of(command, "--instance");
  const std::string parts = option_of(command, "--split-k");
  const std::string group = option_of(command, "--group");
  if (!parts.empty() && parts != "1") name += " /" + parts;
  if (!group.empty()) name += (option_of(command, "--raster") == "n" ? " n" : " m") + group;
  return name;
}

}  // namespace tw::bench
