#include "src/run/trials.h"

// family block_quantise: begin
#include "src/run/block_quantise.h"
// family block_quantise: end
// family block_scaled: begin
#include "src/run/block_scaled.h"
// family block_scaled: end
// family attention: begin
#include "src/run/attention.h"
// family attention: end
// family grouped: begin
#include "src/run/grouped.h"
// family grouped: end
#include "src/run/quantise.h"

namespace tw {

std::span<const Trial* const> all_trials() {
  static const std::vector<const Trial*> trials = [] {
    std::vector<const Trial*> all;
    // family block_quantise: begin
    all.push_back(&block_quantise_trial);
    // family block_quantise: end
    // family block_scaled: begin
    all.push_back(&block_scaled_trial);
    // family block_scaled: end
    // family attention: begin
    all.push_back(&attention_trial);
    // family attention: end
    // family grouped: begin
    all.push_back(&grouped_trial);
    // family grouped: end
    all.push_back(&quantise_trial);
    return all;
  }();
  return trials;
}

}  // namespace tw
