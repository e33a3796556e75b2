// A case of a described family on the device, as the C interface takes it, with its answer.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "src/verify/case.h"
#include "tests/gpu/on_device.h"
#include "tests/library/of_family.h"

namespace tw::tests {

template <class Problem>
struct Placed {
  explicit Placed(const Case& made) : verified(made), ran(verified.given()) {
    for (std::size_t i = 0; i < ran.tensors(); ++i) device.add(ran.tensor(i));
    given = of_family<Problem>(*made.trial, ran.placed([this](std::size_t i) {
      return device.address(ran.tensor(i));
    }));
  }
  void expect_right(const std::string& line) {
    for (std::size_t i = 0; i < ran.tensors(); ++i) {
      if (ran.is_written(i) && ran.tensor(i).exists()) device.read(ran.tensor(i));
    }
    const Comparison comparison = verified.compare(ran);
    ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
  }

  Verified verified;
  HostProblem ran;
  MatmulData nothing;
  OnDevice device{nothing};
  Problem given;
};

// A random case of an instance that runs here, the i-th of them in turn.
inline Case case_here(const Trial& trial, int i, Random& random) {
  std::vector<const Instance*> instances;
  for (const Instance& instance : trial.instances()) {
    if (runs_here(instance.target, instance.capability_end)) instances.push_back(&instance);
  }
  return random_case(trial, *instances[static_cast<std::size_t>(i) % instances.size()], random);
}

}  // namespace tw::tests
