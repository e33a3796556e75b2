// Efficiencies of kernels while they are fitted, and as lines of instances.txt.
#pragma once

#include <map>

#include "src/bench/fit/fit_data.h"

namespace tw::bench {

using Efficiencies = std::map<const KnownKernel*, double>;

// What the library has, and what it begins with where it has nothing.
Efficiencies known_efficiencies(const std::vector<KnownKernel>& kernels);
Efficiencies usual_efficiencies(const std::vector<FitShape>& shapes);

// What errors of a kernel's prices say: off by how much, and how that changes with its efficiency.
struct Slope {
  double off = 0, change = 0;
};
// A Newton's step. `held` counts as so many launches with the mean efficiency of kernels alike.
void move(Efficiencies& efficiencies, const std::map<const KnownKernel*, Slope>& slopes,
          double held);

// Writes what was fitted behind the configurations of measured kernels, in FOLDER/FAMILY/
// instances.txt: the efficiency, and where it was measured the one amid foreign kernels.
Status write_efficiencies(const std::string& folder, const std::vector<FitShape>& shapes,
                          const Efficiencies& efficiencies);

}  // namespace tw::bench
