#include "src/run/trials.h"

#include "src/run/quantise.h"

namespace tw {

std::span<const Trial* const> all_trials() {
  static constexpr const Trial* trials[] = {&quantise_trial};
  return trials;
}

}  // namespace tw
