#include "src/bench/harness/command_output.h"

#include <cstdio>

namespace tw::bench {

std::string first_line(const std::string& command) {
  std::string line;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    char text[256] = {};
    if (std::fgets(text, sizeof text, pipe)) line = text;
    pclose(pipe);
  }
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  return line;
}

}  // namespace tw::bench
