#include "src/requantised/task.h"

#include "src/matmul/names.h"
#include "tilewright/host/quantise_on_host.h"

namespace tw {

RequantisedShape shape_for(const RequantisedInstance& instance) {
  RequantisedShape shape;
  shape.product.matmul.a_type = instance.config.tiling.a_type;
  shape.product.matmul.b_type = instance.config.tiling.b_type;
  shape.product.matmul.d_type = instance.config.d_type;
  shape.product.b_scale_rows = instance.b_scale_rows;
  return shape;
}

RequantisedData make_requantised_data(const RequantisedShape& shape, Fill fill,
                                      std::uint64_t seed) {
  const MatmulShape& matmul = shape.product.matmul;
  RequantisedData data;
  data.product = make_blockwise_data(shape.product, fill, seed);
  data.scales = HostMatrix(ElementType::Fp32, shape.scales, matmul.batch, matmul.m,
                           (matmul.n + 127) / 128, shape.product.unaligned_scales);
  data.scales.allocate();
  data.scales.poison();
  return data;
}

RequantisedData requantised(RequantisedData data, const RequantisedShape& shape) {
  const MatmulShape& matmul = shape.product.matmul;
  const MatmulReference reference = direct_product(data.product, shape.product);
  std::vector<float> values;
  for (const Expected& expected : reference.d) {
    require(expected.error == 0.0, "Only exact values have known elements and scales.");
    values.push_back(static_cast<float>(expected.value));
  }
  HostMatrix& d = data.product.matmul.d;
  const tw_quantise_problem problem = {
      .size = sizeof problem,
      .family = 0,
      .m = matmul.m,
      .k = matmul.n,
      .batch = matmul.batch,
      .scale_rows = 1,
      .source = {values.data(), matmul.n, 1, matmul.m * matmul.n, TW_FP32},
      .elements = matrix_at(d.data(), d),
      .scales = matrix_at(data.scales.data(), data.scales),
      .powers_of_two = shape.rule == BlockScale::power_of_two};
  Checked checked;
  const Status status = check(checked, QuantiseFamily::description, &problem);
  require(status.is_good(), status.sentence().c_str());
  quantise_on_host(checked);
  return data;
}

RequantisedProblem requantised_at(RequantisedData& data, const RequantisedShape& shape,
                                  const std::function<void*(HostMatrix&)>& address) {
  return {blockwise_at(data.product, shape.product, address),
          static_cast<float*>(address(data.scales)),
          data.scales.pitch,
          data.scales.batch_pitch,
          data.scales.major,
          shape.rule};
}

Comparison compare(const RequantisedData& data, const RequantisedData& expected) {
  Comparison result;
  result.exact = true;
  compare_bits(result, "D", data.product.matmul.d, expected.product.matmul.d);
  compare_bits(result, "the scales of D", data.scales, expected.scales);
  return result;
}

VirtualRun run_virtually(const RequantisedInstance& instance, const VerifiedRequantised& problem,
                         const vgpu::Options& options) {
  VirtualRun run;
  if (instance.simulate == nullptr) {
    run.status = no_virtual_gpu();
    return run;
  }
  RequantisedData data = problem.data;
  const RequantisedProblem given =
      requantised_at(data, problem.shape, [](HostMatrix& matrix) { return matrix.data(); });
  run.status = instance.simulate(given, {}, options, run.report);
  if (run.status.is_good()) run.comparison = compare(data, problem.expected);
  return run;
}

std::string run_line(const RequantisedInstance& instance, const RequantisedShape& shape, Fill fill,
                     std::uint64_t seed) {
  const BlockwiseShape& product = shape.product;
  const MatmulShape& matmul = product.matmul;
  const auto word = [](Major major) { return major == Major::K ? " row" : " column"; };
  std::string line = std::string("./tw run requantised --instance ") + instance.name + " --m " +
                     std::to_string(matmul.m) + " --n " + std::to_string(matmul.n) + " --k " +
                     std::to_string(matmul.k) + " --batch " + std::to_string(matmul.batch) +
                     " --a-scales" + word(product.a_scales) + " --b-scales" +
                     word(product.b_scales) + " --d-scales" + word(shape.scales);
  if (shape.rule == BlockScale::power_of_two) line += " --powers-of-two";
  if (product.unaligned_scales) line += " --unaligned-scales";
  if (matmul.epilogue.column_bias) line += " --bias";
  if (matmul.epilogue.beta != 0.0f) line += " --residual";
  if (matmul.epilogue.activation == Activation::Relu) line += " --relu";
  return line + " --data " + name_of(fill) + " --seed " + std::to_string(seed);
}

}  // namespace tw
