// Outputs held against the reference.
#pragma once

#include <string>

#include "src/verify/reference.h"

namespace tw {

struct Comparison {
  bool exact = false;  // every element was compared bit by bit
  std::int64_t wrong = 0;
  std::int64_t unwritten = 0;  // wrong ones that are still poison
  std::int64_t padding_touched = 0;
  double worst = 0.0;  // the share of its bound that the worst right element needs
  std::string first;   // a sentence about the first wrong element
  bool good() const { return wrong == 0 && padding_touched == 0; }
  // Sentences; empty when good.
  std::string complaint() const;
};

// D, the auxiliary output and amax. Casting to the output's type never reverses an order: an
// element is right when it lies between the casts of value - error and value + error, that is,
// where there is no error, when it is the cast of the value, bit by bit but for the sign of zero.
Comparison compare(const MatmulData& data, const MatmulReference& reference);

// One matrix alike, where it exists; `result` gets what is wrong. (batch,row,column)
void compare_within(Comparison& result, const char* name, const HostMatrix& matrix,
                    const std::vector<Expected>& expected);

}  // namespace tw
