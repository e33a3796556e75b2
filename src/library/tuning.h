// The caller's own table of measured launches: the file that TW_TUNING names, read once.
#pragma once

#include <span>
#include <string>

#include "src/dispatch/measured.h"
#include "src/library/device.h"

namespace tw::library {

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
