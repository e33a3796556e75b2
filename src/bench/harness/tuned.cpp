#include "src/bench/harness/tuned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tw::bench {

std::optional<Exception> find_exception(const std::vector<Measurement>& first,
                                        const std::vector<Measurement>& second, std::size_t usual) {
  if (!first[usual].ran() || !second[usual].ran()) return std::nullopt;
  Exception best = {usual, gain_to_keep};
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i].ran() || !second[i].ran()) continue;
    const double gain = std::min(first[usual].median_us / first[i].median_us,
                                 second[usual].median_us / second[i].median_us);
    if (gain > best.gain) best = {i, gain};
  }
  if (best.candidate == usual) return std::nullopt;
  return best;
}

void update(MeasuredTable& table, const std::vector<std::string>& calls,
            const std::vector<MeasuredLaunch>& launches) {
  std::erase_if(table.launches, [&calls](const MeasuredLaunch& known) {
    return std::find(calls.begin(), calls.end(), known.call) != calls.end();
  });
  table.launches.insert(table.launches.end(), launches.begin(), launches.end());
}

Status write_table(const MeasuredTable& table, const std::string& path) {
  // One line per entry: what changes from one tuning to the next is then seen.
  std::string rows;
  for (const MeasuredLaunch& known : table.launches) {
    const nlohmann::ordered_json row = {{"call", known.call},
                                        {"instance", known.instance},
                                        {"split_k", known.split_k},
                                        {"group", known.group},
                                        {"raster", known.raster == Raster::AlongM ? "m" : "n"},
                                        {"gain", std::round(known.gain * 1e3) / 1e3}};
    rows += (rows.empty() ? "\n" : ",\n") + row.dump();
  }
  const auto word = [](const std::string& text) { return nlohmann::json(text).dump(); };
  std::error_code ignored;  // the file then says that it cannot be written
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  std::ofstream file(path);
  file << fmt::format(
      "{{\n\"tilewright\": {},\n\"device\": {},\n\"driver\": {},\n\"date\": {},\n\"entries\": "
      "[{}\n]\n}}\n",
      word(table.version), word(table.device), word(table.driver), word(table.date), rows);
  file.close();
  if (file) return Status::good();
  return Status::refused(fmt::format("The file '{}' cannot be written.", path));
}

}  // namespace tw::bench
