#include "src/families/block_dequantise.h"

#include <bit>
#include <cmath>
#include <vector>

#include "tilewright/family/block_dequantise/kernel.h"
#include "tilewright/launch/scaled_on_host.h"

namespace tw {

namespace {

using Family = BlockDequantiseFamily;
using Problem = Family::Problem;

void adopt(void* given, const Instance&, const std::function<bool(const char*)>& is_given) {
  Problem& problem = *static_cast<Problem*>(given);
  if (problem.scale == TW_UE4M3 && !is_given("elements_type")) problem.elements.type = TW_E2M1;
}

// Every format, order of scales and type of values; often ragged.
void random_problem(Case& made, Random& random) {
  constexpr tw_type elements[] = {TW_E4M3, TW_E5M2, TW_E2M1, TW_E2M3, TW_E3M2};
  constexpr tw_type values[] = {TW_BF16, TW_FP16, TW_FP32};
  Problem& problem = made.as<Problem>();
  problem.m = between(random, 1, random() % 3 == 0 ? 300 : 140);
  problem.k = between(random, 1, random() % 3 == 0 ? 640 : 280);
  if (random() % 4 == 0) problem.k = 128 * between(random, 1, 4);
  problem.scale = random() % 4 == 0 ? TW_UE4M3 : TW_UE8M0;
  problem.elements.type = problem.scale == TW_UE4M3 ? TW_E2M1 : elements[random() % 5];
  problem.values.type = values[random() % 3];
  problem.scale_order = random() % 3 == 0 ? TW_SCALES_IN_ROWS : TW_SCALES_IN_BLOCKS;
  if (problem.scale == TW_UE4M3) {
    problem.tensor_scale = static_cast<float>(between(random, 1, 40)) / 16;
  }
}

// Any codes. Of Fill::Normal any scales, NaN too; of others those around 1.
void fill(HostProblem& data, const Case& of) {
  Random random(of.seed);
  const auto fill_codes = [&](HostMatrix& matrix, const auto& code) {
    for (std::int64_t row = 0; row < matrix.rows && matrix.exists(); ++row) {
      for (std::int64_t column = 0; column < matrix.columns; ++column) {
        matrix.set_code(matrix.index(0, row, column), code(static_cast<unsigned>(random() >> 32)));
      }
    }
  };
  HostMatrix& elements = data.tensor(Family::elements);
  fill_codes(elements,
             [&](unsigned drawn) { return drawn & ((1u << bits_in(elements.type)) - 1); });
  const bool is_mx = of.problem.as<Problem>().scale == TW_UE8M0;
  fill_codes(data.tensor(Family::scales), [&](unsigned drawn) {
    if (of.fill == Fill::Normal) return drawn % (is_mx ? 256 : 128);
    return is_mx ? 124 + drawn % 8 : 0x38 + drawn % 16;
  });
}

void reference(const Checked& on_host) {
  const Problem& problem = on_host.as<Problem>();
  const TensorLines &elements = on_host.tensor(Family::elements),
                    &values = on_host.tensor(Family::values);
  const BlockQuantiseProblem quantised = {
      .m = problem.m,
      .k = problem.k,
      .elements = elements.data,
      .elements_pitch = elements.pitch,
      .element_type = elements.type,
      .scales = static_cast<std::uint8_t*>(on_host.tensor(Family::scales).data),
      .scale_type = Family::scale_type(problem),
      .tensor_scale = problem.tensor_scale,
      .scales_in_rows = problem.scale_order == TW_SCALES_IN_ROWS};
  std::vector<float> numbers(static_cast<std::size_t>(problem.m * problem.k));
  static_cast<void>(dequantise_on_host(numbers.data(), problem.k, quantised));
  for (std::int64_t row = 0; row < problem.m; ++row) {
    for (std::int64_t column = 0; column < problem.k; ++column) {
      const float number = numbers[static_cast<std::size_t>(row * problem.k + column)];
      write_element(values.type,
                    static_cast<std::uint8_t*>(values.data) +
                        (row * values.pitch + column) * bytes_of(values.type),
                    std::isnan(number) ? std::bit_cast<float>(float32::canonical_nan) : number);
    }
  }
}

InstanceWords list(const Instance&) {
  return {"any -> 16/32 bit", "-", "128x128", "1x1", "-", "any", "static"};
}

}  // namespace

const Trial block_dequantise_trial = {.description = &Family::description,
                                      .instances = block_dequantise_instances,
                                      .adopt = adopt,
                                      .settle = nullptr,
                                      .random = random_problem,
                                      .fill = fill,
                                      .answer = exactly<reference>,
                                      .list = list,
                                      .tracks = tracks_of_stream<BlockDequantiseConfig>};

}  // namespace tw
