// cuBLASLt as a peer.
#pragma once

#include <memory>

#include "src/bench/buffers.h"
#include "src/bench/measure.h"

namespace tw::bench {

// Scales of blocks of 128: for each row of A, and for each 128 rows of B.
struct BlockScalePointers {
  const float* a = nullptr;
  const float* b = nullptr;
};

// Its algorithms for a case, as candidates that keep what they need alive; none where it does not
// compute the case. fp8 with scales of one for each tensor and fast accumulation, or with `scales`.
class CublasLt {
 public:
  CublasLt(const MatmulBuffers& buffers, int algorithms, const BlockScalePointers& scales = {});
  std::vector<Candidate> all() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tw::bench
