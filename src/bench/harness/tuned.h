// Measured exceptions to a choice, and the file that keeps them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/bench/harness/result.h"
#include "src/dispatch/measured.h"
#include "tilewright/base/status.h"

namespace tw::bench {

inline constexpr double gain_to_keep = 1.02;

struct Exception {
  std::size_t candidate = 0;
  double gain = 0;
};

// The candidate with the largest gain over the usual choice in its worse pass, if that is worth
// keeping. Both passes are of the same candidates.
std::optional<Exception> find_exception(const std::vector<Measurement>& first,
                                        const std::vector<Measurement>& second, std::size_t usual);

// What the table says about these calls is replaced by the launches.
void update(MeasuredTable& table, const std::vector<std::string>& calls,
            const std::vector<MeasuredLaunch>& launches);
// Writes what read_table reads.
Status write_table(const MeasuredTable& table, const std::string& path);

}  // namespace tw::bench
