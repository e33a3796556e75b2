#include "src/run/block_scaled.h"

#include <fmt/format.h>

#include "src/run/product.h"
#include "tilewright/host/block_scaled.h"
#include "tilewright/number/ue8m0.h"

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
  if (!facts.converts) {
    type("a_type", problem.matmul.a, config.tiling.a_type);
    type("b_type", problem.matmul.b, config.tiling.b_type);
    if (!is_given("scale")) problem.scale = static_cast<tw_scale_type>(facts.scales);
  } else if (Family::scale_type(problem) == ScaleType::Ue4m3) {
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
  if (facts.converts) {
    constexpr tw_type types[] = {TW_E4M3, TW_E5M2, TW_E2M1, TW_E2M3, TW_E3M2};
    problem.scale = random() % 4 == 0 ? TW_UE4M3 : TW_UE8M0;
    const bool nvfp4 = problem.scale == TW_UE4M3;
    matmul.a.type = nvfp4 ? TW_E2M1 : types[random() % 5];
    matmul.b.type = nvfp4 ? TW_E2M1 : types[random() % 5];
    matmul.k = between(random, 1, 260);
    return;
  }
  const Tiling& tiling = facts.product.config.tiling;
  const bool unpacks =
      !tiling.is_packed() && (bits_in(tiling.a_type) < 8 || bits_in(tiling.b_type) < 8);
  const std::int64_t step = unpacks ? 128 : tiling.is_packed() ? 2 : 1;
  matmul.k = between(random, 1, 900 / step) * step;
}

// One scale of a row. Those of integers are integers.
std::uint8_t random_scale(ScaleType type, Fill fill, Random& random) {
  const auto drawn = static_cast<unsigned>(random() >> 32);
  if (type == ScaleType::Ue4m3) {
    return static_cast<std::uint8_t>(
        fill == Fill::Normal ? drawn % 0x7F : Ue4m3(static_cast<float>(1 + drawn % 8)).bits);
  }
  return static_cast<std::uint8_t>(fill == Fill::Normal ? 119 + drawn % 16 : 127 + drawn % 4);
}

// All bytes of the blocks, also those of no row and of no k: they may be anything but NaN.
void fill_blocks(HostMatrix& blocks, ScaleType type, Fill fill, Random& random) {
  for (std::int64_t row = 0; row < blocks.rows && blocks.exists(); ++row) {
    for (std::int64_t column = 0; column < blocks.columns; ++column) {
      blocks.set_code(blocks.index(0, row, column), random_scale(type, fill, random));
    }
  }
}

void fill(HostProblem& data, const Case& of) {
  take_product(data, make_matmul_data(product_shape(of), of.fill, of.seed));
  const ScaleType type = Family::scale_type(of.problem.as<Problem>());
  Random random(of.seed + 1);
  fill_blocks(data.tensor(Family::a_scales), type, of.fill, random);
  fill_blocks(data.tensor(Family::b_scales), type, of.fill, random);
}

// The elements times their scales: float32 holds them. A shared matrix has scales for each use.
HostMatrix scaled(const HostMatrix& elements, const HostMatrix& blocks, std::int64_t batches,
                  ScaleType type) {
  const ScaleExtent extent = ScaleExtent::of(elements.rows, elements.columns, type);
  HostMatrix values(ElementType::Fp32, Major::K, batches, elements.rows, elements.columns, false);
  values.allocate();
  values.fill([&](std::int64_t batch, std::int64_t row, std::int64_t k) {
    const std::int64_t at = batch * extent.bytes() + extent.place(row, k / block_of(type));
    const auto code = static_cast<std::uint8_t>(
        blocks.code(blocks.index(0, at / blocks.columns, at % blocks.columns)));
    const auto scale = type == ScaleType::Ue8m0 ? static_cast<float>(Ue8m0::from_bits(code))
                                                : static_cast<float>(Ue4m3::from_bits(code));
    return elements.at(elements.batch > 1 ? batch : 0, row, k) * scale;
  });
  return values;
}

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  const ScaleType type = Family::scale_type(of.problem.as<Problem>());
  MatmulShape shape = product_shape(of);
  shape.a_type = shape.b_type = ElementType::Bf16;  // sums of either kind of kernel are float32
  shape.shared_b = false;
  MatmulData data = product_data(given, of.fill);
  data.a = scaled(data.a, given.tensor(Family::a_scales), shape.batch, type);
  data.b = scaled(data.b, given.tensor(Family::b_scales), shape.batch, type);
  return std::make_shared<ProductAnswer>(reference_on_host(data, shape), of.fill, nullptr);
}

InstanceWords list(const Instance& instance) {
  const BlockScaledFacts& facts = facts_of_instance(instance);
  const MatmulConfig& config = facts.product.config;
  const Tiling& tiling = config.tiling;
  const std::string types = fmt::format("{} x {} {}", name_of(tiling.a_type),
                                        name_of(tiling.b_type), name_of(facts.scales));
  return {fmt::format("{} -> {}", facts.converts ? "any" : types, name_of(config.d_type)),
          facts.converts ? "any" : layout_name(tiling.a_major, tiling.b_major),
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
