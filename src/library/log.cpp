#include "src/library/log.h"

#include <cstdio>
#include <cstdlib>

namespace tw::library {

namespace {

enum class LogLevel { None, Calls, Info, Dispatch };

LogLevel level() {
  static const LogLevel asked = [] {
    const char* value = std::getenv("TW_LOG");
    const std::string word = value == nullptr ? "" : value;
    if (word == "calls") return LogLevel::Calls;
    if (word == "info") return LogLevel::Info;
    if (word == "dispatch") return LogLevel::Dispatch;
    if (!word.empty()) {
      log_line(fmt::format("tw: TW_LOG is '{}', but must be calls, info or dispatch.", word));
    }
    return LogLevel::None;
  }();
  return asked;
}

}  // namespace

bool logs_distinct_calls() { return level() == LogLevel::Calls; }
bool logs_calls() { return level() >= LogLevel::Info; }
bool logs_dispatch() { return level() == LogLevel::Dispatch; }

void log_line(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

}  // namespace tw::library
