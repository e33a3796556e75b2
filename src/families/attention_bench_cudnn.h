// Attention as a graph of cuDNN's: products, a mask, a softmax from its parts, and of e4m3 scales.
#pragma once

#include "src/bench/peers/cudnn_plans.h"
#include "tilewright/base/status.h"
#include "tilewright/family/attention/family.h"

namespace tw::bench::cudnn {

// Which memory a tensor of the graph is. Numbers of the host are set when plans are executed;
// the ones, and the numbers of weights, are one float of the device each.
enum AttentionId : std::int64_t {
  QueryId = 1,
  KeyId,
  ValueId,
  AttentionOutputId,
  ScaleId,  // the host has it
  LeastId,  // the host has it: a score that is masked
  OnesId,   // four ones: scales of queries, keys, values and the output
  WeightScaleId = OnesId + 4,
  WeightDescaleId,
  LargestWeightId,  // written
  LargestOutputId,  // written
  FirstScoreId,
};

// Whether it can be stated: neither pages nor ends nor ranges, and causal only where a query is its
// own key.
Status states_attention(const tw_attention_problem& what);

// Weights of e4m3 are scaled by 2^8, as ours are, and the result is e4m3: cuDNN has no other for
// it on Hopper.
inline constexpr float weight_scale = 256;

Descriptor graph_of(const Target& target, const tw_attention_problem& what);

}  // namespace tw::bench::cudnn
