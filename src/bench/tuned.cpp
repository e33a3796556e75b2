#include "src/bench/tuned.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

namespace tw::bench {

std::optional<Exception> find_exception(const std::vector<Measurement>& first,
                                        const std::vector<Measurement>& second, std::size_t model) {
  if (!first[model].ran() || !second[model].ran()) return std::nullopt;
  Exception best = {model, gain_to_keep};
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i].ran() || !second[i].ran()) continue;
    const double gain = std::min(first[model].median_us / first[i].median_us,
                                 second[model].median_us / second[i].median_us);
    if (gain > best.gain) best = {i, gain};
  }
  if (best.candidate == model) return std::nullopt;
  return best;
}

Status read_tuned(TunedTable& table, const std::string& path) {
  table = {};
  std::ifstream file(path);
  if (!file) return Status::good();
  try {
    const auto json = nlohmann::json::parse(file);
    table.device = json.at("device");
    table.driver = json.at("driver");
    table.date = json.at("date");
    for (const auto& entry : json.at("entries")) {
      const std::string raster = entry.at("raster");
      table.entries.push_back({entry.at("type"), entry.at("m"), entry.at("n"), entry.at("k"),
                               entry.at("instance"), entry.at("split_k"), entry.at("group"),
                               raster.empty() ? 'm' : raster[0], entry.value("gain", 0.0)});
    }
  } catch (const nlohmann::json::exception& error) {
    return Status::refused(
        fmt::format("The table '{}' is not one that --tune writes: {}.", path, error.what()));
  }
  return Status::good();
}

void update(TunedTable& table, const std::vector<MatmulCase>& shapes,
            const std::vector<TunedEntry>& entries) {
  std::erase_if(table.entries, [&shapes](const TunedEntry& entry) {
    return std::any_of(shapes.begin(), shapes.end(), [&entry](const MatmulCase& shape) {
      return entry.type == name_of(shape.type) && entry.m == shape.m && entry.n == shape.n &&
             entry.k == shape.k;
    });
  });
  table.entries.insert(table.entries.end(), entries.begin(), entries.end());
  std::sort(table.entries.begin(), table.entries.end(),
            [](const TunedEntry& a, const TunedEntry& b) {
              return std::tie(a.type, a.m, a.n, a.k) < std::tie(b.type, b.m, b.n, b.k);
            });
}

Status write_tuned(const TunedTable& table, const std::string& path) {
  // One line per entry: what changes from one tuning to the next is then seen.
  std::string rows;
  for (const TunedEntry& entry : table.entries) {
    const nlohmann::ordered_json row = {{"type", entry.type},
                                        {"m", entry.m},
                                        {"n", entry.n},
                                        {"k", entry.k},
                                        {"instance", entry.instance},
                                        {"split_k", entry.split_k},
                                        {"group", entry.group},
                                        {"raster", std::string(1, entry.raster)},
                                        {"gain", std::round(entry.gain * 1e3) / 1e3}};
    rows += (rows.empty() ? "\n" : ",\n") + row.dump();
  }
  const auto word = [](const std::string& text) { return nlohmann::json(text).dump(); };
  std::error_code ignored;  // the file then says that it cannot be written
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  std::ofstream file(path);
  file << fmt::format(
      "{{\n\"device\": {},\n\"driver\": {},\n\"date\": {},\n\"entries\": [{}\n]\n}}\n",
      word(table.device), word(table.driver), word(table.date), rows);
  file.close();
  if (file) return Status::good();
  return Status::refused(fmt::format("The file '{}' cannot be written.", path));
}

}  // namespace tw::bench
