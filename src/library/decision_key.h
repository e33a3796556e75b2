// Everything that the choice of a kernel depends on: of addresses only their alignment.
#pragma once

#include <string>

#include "src/library/device.h"
#include "src/library/key_words.h"
#include "src/matmul/instance.h"
#include "tilewright.h"

namespace tw::library {

class DecisionKey : public KeyWords<47> {
 public:
  // `named`: the instance that the options name, or null.
  DecisionKey(const tw_matmul_problem& problem, const tw_matmul_options& options,
              const MatmulInstance* named, const Place& place);
  // Is equal to no other.
  DecisionKey() = default;

  // A sentence about the first word in which this differs from a plan's key; there is one.
  std::string difference(const DecisionKey& planned) const;
};

}  // namespace tw::library
