#include "src/dispatch/tuning.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tw {

namespace {

// Whether it is a whole number from `low` on that an int holds.
bool is_from(int low, const nlohmann::json& number) {
  if (!number.is_number_integer()) return false;
  constexpr int high = std::numeric_limits<int>::max();
  if (number.is_number_unsigned()) {
    const auto value = number.get<std::uint64_t>();
    return value >= static_cast<std::uint64_t>(low) && value <= std::uint64_t{high};
  }
  const auto value = number.get<std::int64_t>();
  return value >= low && value <= high;
}

MeasuredLaunch launch_of(const nlohmann::json& entry) {
  MeasuredLaunch launch;
  entry.at("call").get_to(launch.call);
  entry.at("instance").get_to(launch.instance);
  const nlohmann::json &split_k = entry.at("split_k"), &group = entry.at("group");
  launch.gain = entry.value("gain", 0.0);
  const std::string raster = entry.at("raster");
  launch.raster = raster == "n" ? Raster::AlongN : Raster::AlongM;
  if (!is_from(1, split_k) || !is_from(0, group) || (raster != "m" && raster != "n")) {
    throw std::invalid_argument(
        fmt::format("for '{}' split_k is {}, group {} and raster '{}', but must be at least 1, at "
                    "least 0, both "
                    "below 2^31, and m or n",
                    launch.call, split_k.dump(), group.dump(), raster));
  }
  split_k.get_to(launch.split_k);
  group.get_to(launch.group);
  return launch;
}

}  // namespace

Status read_table(MeasuredTable& table, const std::string& path) {
  table = {};
  std::ifstream file(path);
  if (!file) return Status::refused(fmt::format("The tuning file '{}' cannot be read.", path));
  try {
    const auto json = nlohmann::json::parse(file);
    json.at("tilewright").get_to(table.version);
    json.at("device").get_to(table.device);
    table.driver = json.value("driver", "");
    table.date = json.value("date", "");
    const nlohmann::json& entries = json.at("entries");
    if (!entries.is_array()) {
      throw std::invalid_argument(
          fmt::format("its entries are of type {}, but must be an array", entries.type_name()));
    }
    for (const auto& entry : entries) table.launches.push_back(launch_of(entry));
  } catch (const std::exception& error) {
    return Status::refused(fmt::format("The tuning file '{}' is not one that ./tw tune writes: {}.",
                                       path, error.what()));
  }
  return Status::good();
}

Status check_table(const MeasuredTable& table, const std::string& path, const std::string& version,
                   const std::string& device) {
  if (table.version != version) {
    return Status::refused(
        fmt::format("The tuning file '{}' was made by Tilewright {}, but this is {}: ./tw tune "
                    "makes another.",
                    path, table.version, version));
  }
  if (table.device != device) {
    return Status::refused(
        fmt::format("The tuning file '{}' is about '{}', but the device is '{}': ./tw tune makes "
                    "one for it.",
                    path, table.device, device));
  }
  return Status::good();
}

}  // namespace tw
