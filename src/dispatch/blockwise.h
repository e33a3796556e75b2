// Which compiled kernel computes an FP8 product with scales of blocks.
#pragma once

#include "src/blockwise_fp8/instance.h"
#include "src/dispatch/choose_launch.h"

namespace tw {

using BlockwiseChoice = LaunchChoice<BlockwiseInstance>;
using BlockwiseRejection = LaunchRejection<BlockwiseInstance>;

// By what tables know it; empty: not at all.
std::string call_of(const BlockwiseProblem& problem);

// Every launch that computes the problem, none twice, with its expected cost.
std::vector<BlockwiseChoice> candidates(const BlockwiseProblem& problem,
                                        const DispatchRequest& request,
                                        std::vector<BlockwiseRejection>* rejections);

// A table's candidate, or else the cheapest; where there is none, a sentence with what the nearest
// lack. `rejections` may be null.
Status choose(BlockwiseChoice& choice, const BlockwiseProblem& problem,
              const DispatchRequest& request, std::vector<BlockwiseRejection>* rejections);

}  // namespace tw
