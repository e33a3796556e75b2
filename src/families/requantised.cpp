#include "src/families/requantised.h"

#include "src/verify/quantised_answer.h"
#include "src/verify/scaled_trial.h"

namespace tw {

namespace {

using Family = RequantisedFamily;
using Scaled = ScaledTrial<Family>;

QuantisedBlocks blocks_of(const HostProblem& ran, Comparison& result) {
  const HostMatrix& scales = ran.tensor(Family::d_scales);
  if (scales.exists()) result.padding_touched += scales.padding_touched();
  const BlockScale rule = ran.problem().as<Family::Problem>().powers_of_two != 0
                              ? BlockScale::power_of_two
                              : BlockScale::real;
  // The scale's reciprocal and the product with it are rounded to float32.
  return {
      .columns = 128,
      .smallest = 0x1p-126,
      .rounding = 0x1p-21,
      .scale_of = [rule](double amax) { return block_scale<E4m3>(static_cast<float>(amax), rule); },
      .scale_at = [&scales](auto batch, auto row,
                            auto block) { return scales.at(batch, row, block); }};
}

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  return std::make_shared<QuantisedAnswer>(Scaled::reference(of, given), of.fill, Family::d,
                                           blocks_of);
}

}  // namespace

const Trial requantised_trial = {.description = &Family::description,
                                 .instances = requantised_instances,
                                 .adopt = Scaled::adopt,
                                 .settle = Scaled::settle,
                                 .random = Scaled::random,
                                 .fill = Scaled::fill,
                                 .answer = answer,
                                 .list = nullptr};

}  // namespace tw
