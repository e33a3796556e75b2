// A failing case, made as simple as it can be while it still fails.
#pragma once

#include <functional>

#include "src/matmul/task.h"
#include "vgpu/machine/machine.h"

namespace tw::cli {

struct FuzzCase {
  MatmulTask task;
  vgpu::Options schedule;  // where it runs on the virtual GPU
};

// Simplifies one thing at a time, until nothing more can go or `tries` cases were asked about.
// `fails` must hold for `failing`.
FuzzCase shrink(const FuzzCase& failing, const std::function<bool(const FuzzCase&)>& fails,
                int tries);

}  // namespace tw::cli
