#include "src/families/block_scaled.h"

#include <fmt/format.h>

#include "src/verify/block_scales.h"
#include "src/verify/product.h"
#include "src/verify/quantised_answer.h"
#include "tilewright/family/block_scaled/launch.h"
#include "tilewright/number/mx.h"

namespace tw {

namespace {

using Family = BlockScaledFamily;
using Problem = Family::Problem;

const BlockScaledFacts& facts_of_instance(const Instance& instance) {
  return *static_cast<const BlockScaledFacts*>(instance.facts);
}

// Kernels that convert take any elements with any scales.
void adopt(void* given, const Instance& instance,
           const std::function<bool(const char*)>& is_given) {
  const BlockScaledFacts& facts = facts_of_instance(instance);
  const MatmulConfig& config = facts.product.config;
  Problem& problem = *static_cast<Problem*>(given);
  const auto type = [&](const char* name, tw_matrix& matrix, ElementType usual) {
    if (!is_given(name)) matrix.type = static_cast<tw_type>(usual);
  };
  type("d_type", problem.matmul.d, config.d_type);
  static std::uint8_t somewhere = 0;
  if (facts.quantises) problem.d_scales = &somewhere;
  if (!facts.scales.converts) {
    type("a_type", problem.matmul.a, config.tiling.a_type);
    type("b_type", problem.matmul.b, config.tiling.b_type);
    if (!is_given("scale")) problem.scale = static_cast<tw_scale_type>(facts.scales.type);
  } else if (Family::BlockScales::type(problem) == ScaleType::Ue4m3) {
    type("a_type", problem.matmul.a, ElementType::E2m1);
    type("b_type", problem.matmul.b, ElementType::E2m1);
  }
}

// Ragged, often of more k-tiles than one; some in a batch.
void random_problem(Case& made, Random& random) {
  const BlockScaledFacts& facts = facts_of_instance(*made.instance);
  Problem& problem = made.as<Problem>();
  tw_matmul_problem& matmul = problem.matmul;
  matmul.m = between(random, 1, random() % 3 == 0 ? 300 : 140);
  matmul.n = between(random, 1, random() % 3 == 0 ? 300 : 140);
  if (random() % 4 == 0) matmul.batch = between(random, 2, 3);
  if (facts.scales.converts) {
    random_block_types(problem, random);
    matmul.k = between(random, 1, 260);
    return;
  }
  const Tiling& tiling = facts.product.config.tiling;
  const bool unpacks =
      !tiling.is_packed() && (bits_in(tiling.a_type) < 8 || bits_in(tiling.b_type) < 8);
  const std::int64_t step = unpacks ? 128 : tiling.is_packed() ? 2 : 1;
  matmul.k = between(random, 1, 900 / step) * step;
}

void fill(HostProblem& data, const Case& of) {
  take_product(data, make_matmul_data(product_shape(of), of.fill, of.seed));
  const ScaleType type = Family::BlockScales::type(of.problem.as<Problem>());
  Random random(of.seed + 1);
  fill_blocks(data.tensor(Family::a_scales), type, of.fill, random);
  fill_blocks(data.tensor(Family::b_scales), type, of.fill, random);
}

// Scales of no row and no column are left alone.
QuantisedBlocks blocks_of(const HostProblem& ran, Comparison& result) {
  const HostMatrix& scales = ran.tensor(Family::d_scales);
  const ScaleExtent extent = Family::d_scale_extent(ran.problem().as<Problem>());
  const auto index_at = [&scales](std::int64_t at) {
    return scales.index(0, at / scales.columns, at % scales.columns);
  };
  const std::int64_t batches = ran.tensor(Family::d).batch;
  std::vector<bool> written(static_cast<std::size_t>(batches * extent.bytes()));
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::int64_t i = 0; i < extent.rows * extent.scales; ++i) {
      const std::int64_t at = extent.place(i / extent.scales, i % extent.scales);
      written[static_cast<std::size_t>(batch * extent.bytes() + at)] = true;
    }
  }
  for (std::size_t at = 0; at < written.size(); ++at) {
    const std::size_t index = index_at(static_cast<std::int64_t>(at));
    result.padding_touched += !written[at] && scales.code(index) != poison_bits(scales.type, index);
  }
  return {.columns = mx_block,
          .smallest = 0x1p-127,
          .rounding = 0,
          .scale_of =
              [](double amax) {
                return static_cast<float>(
                    mx_block_scale<E4m3>(static_cast<float>(amax), MxScale::rceil));
              },
          .scale_at =
              [=, &scales](auto batch, auto row, auto block) {
                const auto code =
                    scales.code(index_at(batch * extent.bytes() + extent.place(row, block)));
                return static_cast<float>(Ue8m0::from_bits(static_cast<std::uint8_t>(code)));
              }};
}

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  const ScaleType type = Family::BlockScales::type(of.problem.as<Problem>());
  MatmulShape shape = product_shape(of);
  shape.a_type = shape.b_type = ElementType::Bf16;  // sums of either kind of kernel are float32
  shape.shared_b = false;
  MatmulData data = product_data(given, of.fill);
  data.a = scaled(data.a, given.tensor(Family::a_scales), shape.batch, type);
  data.b = scaled(data.b, given.tensor(Family::b_scales), shape.batch, type);
  if (of.problem.as<Problem>().d_scales != nullptr) {
    return std::make_shared<QuantisedAnswer>(reference_on_host(data, shape), of.fill, Family::d,
                                             blocks_of);
  }
  return std::make_shared<ProductAnswer>(reference_on_host(data, shape), of.fill, nullptr);
}

InstanceWords list(const Instance& instance) {
  const BlockScaledFacts& facts = facts_of_instance(instance);
  const MatmulConfig& config = facts.product.config;
  const Tiling& tiling = config.tiling;
  const std::string types = fmt::format("{} x {} {}", name_of(tiling.a_type),
                                        name_of(tiling.b_type), name_of(facts.scales.type));
  return {fmt::format("{} -> {}", facts.scales.converts ? "any" : types, name_of(config.d_type)),
          facts.scales.converts ? "any" : layout_name(tiling.a_major, tiling.b_major),
          fmt::format("{}x{}", tiling.m, tiling.n),
          fmt::format("{}x{}", tiling.cluster.m, tiling.cluster.n),
          "cooperative",
          "whole",
          config.scheduling == Scheduling::Static ? "static" : "dynamic"};
}

}  // namespace

const Trial block_scaled_trial = {.description = &Family::description,
                                  .instances = block_scaled_instances,
                                  .adopt = adopt,
                                  .settle = nullptr,
                                  .random = random_problem,
                                  .fill = fill,
                                  .answer = answer,
                                  .list = list};

}  // namespace tw
