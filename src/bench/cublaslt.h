// cuBLASLt as a peer.
#pragma once

#include <memory>

#include "src/bench/blockwise.h"
#include "src/bench/buffers.h"
#include "src/bench/measure.h"

namespace tw::bench {

// Its algorithms for a case, as candidates that keep what they need alive; none where it does not
// compute the case. fp8 with scales of one for each tensor and fast accumulation, or with `scales`.
class CublasLt {
 public:
  CublasLt(const MatmulBuffers& buffers, int algorithms, const BlockScales* scales = nullptr);
  std::vector<Candidate> all() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tw::bench
