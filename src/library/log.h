// What the library says on stderr: nothing, unless TW_LOG is `calls`, `info` or `dispatch`.
#pragma once

#include <fmt/format.h>

#include <string>

#include "tilewright/base/status.h"

namespace tw::library {

bool logs_distinct_calls();  // `calls`: each distinct one once, in the words of ./tw tune
bool logs_calls();           // `info` and `dispatch`: the command that repeats each call
bool logs_dispatch();  // `dispatch`: also why the other kernels were not taken, once per shape

void log_line(const std::string& line);

// Why kernels were not taken, and which was.
template <class Rejections, class Choice>
void log_dispatch(const std::string& title, const Rejections& rejections, const Status& status,
                  const Choice& choice) {
  if (!logs_dispatch()) return;
  std::string text = "tw: " + title + ":";
  for (const auto& rejection : rejections) {
    text += fmt::format("\ntw:   not {}: {}", rejection.instance->name, rejection.sentence);
  }
  text += status.is_good() ? fmt::format("\ntw:   {}: {:.1f} us expected", choice.instance->name,
                                         choice.microseconds)
                           : "\ntw:   " + status.sentence();
  log_line(text);
}

}  // namespace tw::library
