// FP8 with scales of blocks: ours as candidates, and the scales that the peer reads, too.
#pragma once

#include "src/bench/buffers.h"
#include "src/bench/described.h"
#include "tilewright/family/blockwise/family.h"

namespace tw {

std::span<const Instance> blockwise_instances();

namespace bench {

using BlockwiseProblems = std::shared_ptr<const Problems<BlockwiseFamily>>;

// Device memory for the scales of one case, all of them one: A's, one for each row, column-major as
// the peer wants them, or for us row-major; B's row-major, one for each 128 rows, lines a multiple
// of four, as the peer wants them.
class BlockwiseScales {
 public:
  BlockwiseScales(const MatmulCase& what, Major own_a);
  ~BlockwiseScales();
  BlockwiseScales(const BlockwiseScales&) = delete;
  const float* a() const { return memory_; }
  const float* b() const { return memory_ + a_count_; }
  // Of all sets of the buffers.
  BlockwiseProblems problems(const MatmulBuffers& buffers) const;

 private:
  Major own_a_;
  std::int64_t a_count_;
  float* memory_ = nullptr;
};

// Every launch that computes them.
std::vector<LaunchChoice<Instance>> launches_of(const BlockwiseProblems& problems,
                                                const DispatchRequest& request);

}  // namespace bench
}  // namespace tw
