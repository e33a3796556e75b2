// Everything that the choice of a kernel depends on: of addresses only their alignment.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "src/library/device.h"
#include "src/matmul/instance.h"
#include "tilewright.h"

namespace tw::library {

class DecisionKey {
 public:
  // `named`: the instance that the options name, or null.
  DecisionKey(const tw_matmul_problem& problem, const tw_matmul_options& options,
              const MatmulInstance* named, const Place& place);
  // Is equal to no other.
  DecisionKey() = default;

  bool operator==(const DecisionKey&) const = default;
  std::uint64_t hash() const;
  // A sentence about the first word in which this differs from a plan's key; there is one.
  std::string difference(const DecisionKey& planned) const;

  static constexpr std::size_t words = 47;

 private:
  std::array<std::int64_t, words> words_{};
};

}  // namespace tw::library
