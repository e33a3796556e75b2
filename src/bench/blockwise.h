// FP8 with scales of blocks: ours as candidates, and the scales that the peer reads, too.
#pragma once

#include "src/bench/buffers.h"
#include "src/bench/own.h"
#include "src/dispatch/blockwise.h"
#include "tilewright/host/blockwise_problem.h"

namespace tw::bench {

// Device memory for the scales of one case, all of them one: A's, one for each row, column-major as
// the peer wants them, or for us row-major; B's row-major, one for each 128 rows, lines a multiple
// of four, as the peer wants them.
class BlockScales {
 public:
  BlockScales(const MatmulCase& what, Major own_a);
  ~BlockScales();
  BlockScales(const BlockScales&) = delete;
  const float* a() const { return memory_; }
  const float* b() const { return memory_ + a_count_; }
  BlockwiseProblem problem(const MatmulProblem& matmul) const;

 private:
  Major own_a_;
  std::int64_t a_count_;
  float* memory_ = nullptr;
};

// A launch of that choice, with a workspace of its own.
Candidate candidate_of(const BlockwiseChoice& choice, const MatmulBuffers& buffers,
                       const BlockScales& scales);

// As own_candidates: a plan of the C interface, or all launches of the wanted instances or of a
// shortlist.
Status blockwise_candidates(std::vector<Candidate>& candidates, const OwnRequest& request,
                            const MatmulBuffers& buffers, const BlockScales& scales);

}  // namespace tw::bench
