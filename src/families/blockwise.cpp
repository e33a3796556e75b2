#include "src/families/blockwise.h"

#include <cmath>
#include <random>

#include "src/verify/scaled_trial.h"

namespace tw {

namespace {

using Scaled = ScaledTrial<BlockwiseFamily>;

using Problem = BlockwiseFamily::Problem;

void adopt(void* problem, const Instance& instance, const IsGiven& is_given) {
  Scaled::adopt(problem, instance, is_given);
  // Kernels that promote no sums take scales that are powers of two.
  if (!is_given("powers_of_two") && product_facts(instance).config.promote_every == 0) {
    static_cast<Problem*>(problem)->powers_of_two = 1;
  }
}

// Sums of integers over 1280 of k stay below 2^24 with them.
void fill_powers_of_two(HostMatrix& scales, Fill fill, std::mt19937_64& random) {
  scales.fill([&](std::int64_t, std::int64_t, std::int64_t) -> double {
    const auto drawn = static_cast<int>(random() % 16);
    return std::ldexp(1.0, fill == Fill::Integers ? drawn % 4 : drawn - 12);
  });
}
void fill(HostProblem& data, const Case& of) {
  Scaled::fill(data, of);
  // Scales that tell a place are powers of two already.
  if (of.problem.as<Problem>().powers_of_two == 0 || of.fill == Fill::Position) return;
  std::mt19937_64 random(of.seed + 3);
  fill_powers_of_two(data.tensor(BlockwiseFamily::a_scales), of.fill, random);
  fill_powers_of_two(data.tensor(BlockwiseFamily::b_scales), of.fill, random);
}

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  return std::make_shared<ProductAnswer>(Scaled::reference(of, given), of.fill, nullptr);
}

}  // namespace

const Trial blockwise_trial = {.description = &BlockwiseFamily::description,
                               .instances = blockwise_instances,
                               .adopt = adopt,
                               .settle = Scaled::settle,
                               .random = Scaled::random,
                               .fill = fill,
                               .answer = answer,
                               .list = nullptr};

}  // namespace tw
