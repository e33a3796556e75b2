// Measured exceptions to the cost model, and the file that keeps them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/bench/result.h"
#include "tilewright/base/status.h"

namespace tw::bench {

inline constexpr double gain_to_keep = 1.02;

struct TunedEntry {
  std::string type;
  std::int64_t m = 0, n = 0, k = 0;
  std::string instance;
  int split_k = 1;
  int group = 0;
  char raster = 'm';
  double gain = 0;  // the model's time over this one's, the smaller of two passes
};

struct Exception {
  std::size_t candidate = 0;
  double gain = 0;
};

// The candidate with the largest gain over the model's choice in its worse pass, if that is worth
// keeping. Both passes are of the same candidates.
std::optional<Exception> find_exception(const std::vector<Measurement>& first,
                                        const std::vector<Measurement>& second, std::size_t model);

struct TunedTable {
  std::string device;
  std::string driver;
  std::string date;
  std::vector<TunedEntry> entries;
};

// An absent file is an empty table.
Status read_tuned(TunedTable& table, const std::string& path);
// What the table says about these shapes is replaced by the entries.
void update(TunedTable& table, const std::vector<MatmulCase>& shapes,
            const std::vector<TunedEntry>& entries);
Status write_tuned(const TunedTable& table, const std::string& path);

}  // namespace tw::bench
