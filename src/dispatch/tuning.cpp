#include "src/dispatch/tuning.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tw {

namespace {

MeasuredLaunch launch_of(const nlohmann::json& entry) {
  MeasuredLaunch launch;
  entry.at("call").get_to(launch.call);
  entry.at("instance").get_to(launch.instance);
  entry.at("split_k").get_to(launch.split_k);
  entry.at("group").get_to(launch.group);
  launch.gain = entry.value("gain", 0.0);
  const std::string raster = entry.at("raster");
  launch.raster = raster == "n" ? Raster::AlongN : Raster::AlongM;
  const bool is_right =
      launch.split_k >= 1 && launch.group >= 0 && (raster == "m" || raster == "n");
  if (!is_right) {
    throw std::invalid_argument(fmt::format(
        "for '{}' split_k is {}, group {} and raster '{}', but must be at least 1, at least 0, and "
        "m or n",
        launch.call, launch.split_k, launch.group, raster));
  }
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
    for (const auto& entry : json.at("entries")) table.launches.push_back(launch_of(entry));
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
