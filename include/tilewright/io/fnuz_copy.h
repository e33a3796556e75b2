// VectorCopy of e4m3 for targets that multiply fnuz: shared memory has what fnuz calls half of it.
#pragma once

#include "tilewright/io/vector_copy.h"
#include "tilewright/number/fnuz.h"

namespace tw {

struct FnuzCopy : VectorCopy {
  static TW_DEVICE void store(SharedAddress destination, const Fetched& fetched) {
    Fetched converted;
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) converted.words[i] = fnuz_of_e4m3(fetched.words[i]);
    VectorCopy::store(destination, converted);
  }
};

}  // namespace tw
