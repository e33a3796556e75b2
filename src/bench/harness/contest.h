// One shape: our launches beside the peers', measured in turns and compared.
#pragma once

#include "src/bench/harness/options.h"
#include "src/bench/harness/result.h"

namespace tw::bench {

// `foreign_us` is what the foreign kernel takes that runs between launches.
ShapeResult measure(const BenchRequest& request, const MeasuredCase& what, double foreign_us);

}  // namespace tw::bench
