// What variables of the environment ask of the library: TW_LOG and TW_TUNING.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>

#include "src/dispatch/measured.h"
#include "src/library/device.h"
#include "tilewright/base/status.h"

namespace tw::library {

// What the library says on stderr: nothing, unless TW_LOG is `calls`, `info` or `dispatch`.
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

// The caller's own table of measured launches: the file that TW_TUNING names, read once.
// Null where TW_TUNING is not set, and for the virtual GPU. A file that cannot be used is thrown as
// a Failure, on every call: whoever sets TW_TUNING counts on it.
const MeasuredTable* own_table(const Device& device);

// Throws where a table names an instance of the family that is not among `instances`.
template <class Instances>
void check_instances(const MeasuredTable& table, const std::string& family,
                     const Instances& instances);

[[noreturn]] void refuse_instance(const MeasuredLaunch& launch);

template <class Instances>
void check_instances(const MeasuredTable& table, const std::string& family,
                     const Instances& instances) {
  for (const MeasuredLaunch& launch : table.launches) {
    if (!launch.call.starts_with(family + " ")) continue;
    bool is_there = false;
    for (const auto& instance : instances) is_there = is_there || launch.instance == instance.name;
    if (!is_there) refuse_instance(launch);
  }
}

}  // namespace tw::library
