#include "src/families/matmul.h"

#include "src/verify/device.h"
#include "src/verify/gpu.h"
#include "src/verify/product.h"
#include "src/verify/random_epilogue.h"

namespace tw {

namespace {

using Problem = MatmulFamily::Problem;

// Types and lines of memory are the instance's; B has A's type where only that is given.
void adopt(void* given, const Instance& instance,
           const std::function<bool(const char*)>& is_given) {
  const MatmulConfig& config = config_of(instance);
  Problem& problem = *static_cast<Problem*>(given);
  const auto type = [&](const char* name, tw_matrix& matrix, ElementType usual) {
    if (!is_given(name)) matrix.type = static_cast<tw_type>(usual);
  };
  type("a_type", problem.a, config.tiling.a_type);
  const bool follows = is_given("a_type");
  type("b_type", problem.b,
       follows ? static_cast<ElementType>(problem.a.type) : config.tiling.b_type);
  type("d_type", problem.d, config.d_type);
  if (!product_facts(instance).any_layout) {
    if (!is_given("a")) problem.a.column_stride = config.tiling.a_major == Major::K ? 1 : 0;
    if (!is_given("b")) problem.b.column_stride = config.tiling.b_major == Major::K ? 0 : 1;
  }
  const std::int64_t few = config.tiling.loaded_rows;
  if (few != 0 && !is_given("m")) problem.m = std::min(problem.m, few);
}

void random_problem(Case& made, Random& random) {
  Dice dice(random);
  const std::int64_t few = config_of(*made.instance).tiling.loaded_rows;
  Problem& problem = made.as<Problem>();
  problem.m = dice.extent(few == 0 ? made.largest : std::min(made.largest, few));
  problem.n = dice.extent(made.largest);
  problem.k = dice.extent(made.largest);
  if (dice.one_in(4)) problem.batch = 1 + dice.up_to(2);
}

void fill(HostProblem& data, const Case& of) {
  take_product(data, make_matmul_data(product_shape(of), of.fill, of.seed));
}

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  return std::make_shared<ProductAnswer>(
      reference_on_host(product_data(given, of.fill), product_shape(of)), of.fill, nullptr);
}

std::shared_ptr<const Answer> answer_on_gpu(const Case& of, const HostProblem& given) {
  if (!why_no_gpu().empty()) return answer(of, given);  // the GPU is AMD's
  return std::make_shared<ProductAnswer>(
      reference_on_gpu(product_data(given, of.fill), product_shape(of)), of.fill, nullptr);
}

}  // namespace

const Trial matmul_trial = {.description = &MatmulFamily::description,
                            .instances = matmul_instances,
                            .adopt = adopt,
                            .settle = nullptr,
                            .random = random_problem,
                            .fill = fill,
                            .answer = answer,
                            .list = nullptr,
                            .answer_on_gpu = answer_on_gpu};

}  // namespace tw
