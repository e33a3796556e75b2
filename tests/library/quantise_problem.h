// Matrices to quantise with known answers, for the C interface.
#pragma once

#include "src/families/quantise.h"
#include "tilewright.h"

namespace tw::tests {

// The case names no instance: what the library takes is its choice.
inline Case quantise_case(const tw_quantise_problem& given, Fill fill, std::uint64_t seed) {
  Case made = {&quantise_trial, nullptr, AnyProblem(given)};
  made.fill = fill;
  made.seed = seed;
  return made;
}
inline tw_quantise_problem quantise_problem(std::int64_t m, std::int64_t k) {
  auto problem = AnyProblem(QuantiseFamily::description).as<tw_quantise_problem>();
  problem.m = m;
  problem.k = k;
  return problem;
}

}  // namespace tw::tests
