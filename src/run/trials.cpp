#include "src/run/trials.h"

// family grouped: begin
#include "src/run/grouped.h"
// family grouped: end
#include "src/run/quantise.h"

namespace tw {

std::span<const Trial* const> all_trials() {
  static const std::vector<const Trial*> trials = [] {
    std::vector<const Trial*> all;
    // family grouped: begin
    all.push_back(&grouped_trial);
    // family grouped: end
    all.push_back(&quantise_trial);
    return all;
  }();
  return trials;
}

}  // namespace tw
