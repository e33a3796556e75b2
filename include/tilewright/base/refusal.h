// The exception that the host throws where a `require` does not hold, with its sentence.
#pragma once

#include <stdexcept>

namespace tw {

struct Refusal : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace tw
