#include "src/run/blockwise.h"

namespace tw {

namespace {

using Scaled = ScaledTrial<BlockwiseFamily>;

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  return std::make_shared<ProductAnswer>(Scaled::reference(of, given), of.fill, nullptr);
}

}  // namespace

const Trial blockwise_trial = {.description = &BlockwiseFamily::description,
                               .instances = blockwise_instances,
                               .adopt = Scaled::adopt,
                               .settle = Scaled::settle,
                               .random = Scaled::random,
                               .fill = Scaled::fill,
                               .answer = answer,
                               .list = nullptr};

}  // namespace tw
