// cuDNN as a peer.
#pragma once

#include <memory>

#include "src/bench/conv2d_buffers.h"
#include "src/bench/measure.h"

namespace tw::bench {

// Its plans for a convolution, as candidates that keep what they need alive.
class Cudnn {
 public:
  // At most `most` plans of each graph, in the order in which its heuristics (A, then B, then the
  // fallback) name them.
  Cudnn(const Conv2dBuffers& buffers, int most);

  // The convolution with its epilogue in one graph. Empty where it computes no such thing;
  // `why` is then a sentence.
  std::vector<Candidate> fused(const Conv2dEpilogue& epilogue, std::string& why) const;

  static std::string version();  // 9.19.0; empty where there is none

 private:
  const Conv2dBuffers* buffers_;
  int most_;
};

// A convolution without an epilogue, and a kernel of ours that then applies it to D.
Candidate then_finish(const Candidate& convolution, const Conv2dBuffers& buffers,
                      const Conv2dEpilogue& epilogue);

}  // namespace tw::bench
