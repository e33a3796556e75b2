// Every landing policy with several seeds, and whole kernels on the virtual GPU.
#pragma once

#include <gtest/gtest.h>

#include "src/verify/data.h"
#include "tests/vgpu/support.h"
#include "tilewright/bind/recipe.h"
#include "vgpu/simulate.h"

namespace tw::hooks {

template <class Function>
void under_every_schedule(const Function& function) {
  for (const vgpu::Landing landing : test::every_landing) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      SCOPED_TRACE(std::string(name_of(landing)) + ", seed " + std::to_string(seed));
      vgpu::Options options;
      options.landing = landing;
      options.seed = seed;
      function(options);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// `Kernel` may be a family's with one part of its own.
template <class Kernel>
vgpu::Report run_parts(MatmulData& data, const MatmulShape& shape, const vgpu::Options& options) {
  return simulate<Kernel>(problem_on_host(data, shape), options);
}

}  // namespace tw::hooks
