#include "src/cli/fuzz_blockwise.h"

#include "src/blockwise_fp8/random_shape.h"
#include "src/cli/shrink.h"

namespace tw::cli {

namespace {

// The product and its schedule are a FuzzCase of no instance of matmul's, so that they shrink
// alike.
struct Case {
  const BlockwiseInstance* instance;
  BlockwiseShape shape;
  FuzzCase product;

  Case with(const FuzzCase& other) const {
    Case result = *this;
    result.product = other;
    result.shape.matmul = other.task.shape;
    return result;
  }
};

Case random_case(const BlockwiseInstance& instance, std::mt19937_64& random) {
  const Fill fills[] = {Fill::Integers, Fill::Integers, Fill::Position, Fill::Normal};
  const Case one = {&instance, blockwise::random_shape(instance, random), {}};
  FuzzCase product;
  product.task.shape = one.shape.matmul;
  product.task.order = blockwise::random_order(instance, random);
  product.task.fill = fills[random() % std::size(fills)];
  product.task.seed = random() % 1000000;
  product.schedule = random_schedule(instance.config.tiling.cluster.size(), random);
  return one.with(product);
}

Outcome judge(const Case& one) {
  const MatmulTask& task = one.product.task;
  const VirtualRun run =
      run_virtually(*one.instance, task.order, VerifiedBlockwise(one.shape, task.fill, task.seed),
                    one.product.schedule);
  return {run.status, run.complaint()};
}

std::string line_of(const Case& one) {
  const MatmulTask& task = one.product.task;
  return run_line(*one.instance, task.order, one.shape, task.fill, task.seed) +
         schedule_words(one.product.schedule);
}

Case shrink(const Case& failing) {
  Case plain = failing;
  plain.shape.a_scales = plain.shape.b_scales = Major::K;
  plain.shape.unaligned_scales = false;
  if (!judge(plain).failed()) plain = failing;
  return plain.with(shrink(
      plain.product, [&](const FuzzCase& other) { return judge(plain.with(other)).failed(); },
      shrink_tries));
}

}  // namespace

void add_blockwise_cases(std::vector<CaseMaker>& makers, const std::string& arch,
                         const std::string& instance) {
  add_cases(makers, blockwise_instances(), arch, instance, random_case);
}

}  // namespace tw::cli
