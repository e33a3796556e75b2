#include "src/library/environment.h"

#include <cstdio>
#include <cstdlib>

#include "src/dispatch/tuning.h"
#include "src/library/failure.h"

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

struct OwnFile {
  std::string path;  // empty: there is none
  MeasuredTable table;
  Status status = Status::good();
};

// Lives as long as the process: threads may still call while it ends.
const OwnFile& own_file() {
  static const OwnFile& file = *[] {
    auto* const read = new OwnFile;
    const char* const path = std::getenv("TW_TUNING");
    if (path != nullptr && *path != 0) {
      read->path = path;
      read->status = read_table(read->table, path);
    }
    return read;
  }();
  return file;
}

}  // namespace

bool logs_distinct_calls() { return level() == LogLevel::Calls; }
bool logs_calls() { return level() >= LogLevel::Info; }
bool logs_dispatch() { return level() == LogLevel::Dispatch; }

void log_line(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

const MeasuredTable* own_table(const Device& device) {
  const OwnFile& file = own_file();
  if (file.path.empty() || device.name == nullptr) return nullptr;
  Status status = file.status;
  if (status.is_good()) status = check_table(file.table, file.path, tw_version(), device.name);
  if (!status.is_good()) throw Failure{TW_INVALID, "TW_TUNING: " + status.sentence()};
  return &file.table;
}

void refuse_instance(const MeasuredLaunch& launch) {
  throw Failure{TW_INVALID, fmt::format("TW_TUNING: The tuning file '{}' has the kernel '{}' for "
                                        "'{}', but this library has no such kernel: ./tw tune "
                                        "makes another file.",
                                        own_file().path, launch.instance, launch.call)};
}

}  // namespace tw::library
