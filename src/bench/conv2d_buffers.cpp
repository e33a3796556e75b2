#include "src/bench/conv2d_buffers.h"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "src/bench/device.h"
#include "src/bench/fill.h"
#include "src/matmul/matrix.h"

namespace tw::bench {

Conv2dBuffers::Conv2dBuffers(const Conv2dCase& what, std::uint64_t seed) : what_(what) {
  const auto after = [&what](std::size_t begin, std::int64_t elements) {
    return (begin + std::size_t(bytes_of(what.type)) * std::size_t(elements) + 255) / 256 * 256;
  };
  filter_at_ = after(0, what.image_elements());
  bias_at_ = after(filter_at_, what.filter_elements());
  residual_at_ = after(bias_at_, what.k);
  d_at_ = after(residual_at_, what.output_elements());
  bytes_ = after(d_at_, what.output_elements());
  int l2_bytes = 0;
  must(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "Asking for the L2's size");
  // Small convolutions touch little: many sets.
  const auto wanted = 3 * std::size_t(l2_bytes) / std::size_t(what.bytes()) + 1;
  const std::size_t sets = std::clamp<std::size_t>(wanted, 2, 512);
  for (std::size_t set = 0; set < sets; ++set) {
    void* memory = nullptr;
    must(cudaMalloc(&memory, bytes_), "Allocating on the GPU");
    base_.push_back(static_cast<char*>(memory));
    const auto index = static_cast<int>(set);
    fill_normal(image(index), what.type, what.image_elements(), seed + 4 * set);
    fill_normal(filter(index), what.type, what.filter_elements(), seed + 4 * set + 1);
    fill_normal(bias(index), what.type, what.k, seed + 4 * set + 2);
    fill_normal(residual(index), what.type, what.output_elements(), seed + 4 * set + 3);
  }
  must(cudaDeviceSynchronize(), "Filling the inputs");
}

Conv2dBuffers::~Conv2dBuffers() {
  for (char* base : base_) cudaFree(base);
}

tw_conv2d_problem Conv2dBuffers::problem(int set, const Conv2dEpilogue& epilogue) const {
  tw_conv2d_problem problem = what_.problem();
  problem.image = image(set);
  problem.filter = filter(set);
  problem.d = d(set);
  if (epilogue.bias) problem.epilogue.column_bias = bias(set);
  problem.epilogue.bias_type = problem.type;
  if (epilogue.residual) {
    problem.epilogue.beta = 1.0f;
    problem.epilogue.source = {residual(set), what_.k, 1, 0, problem.type};
  }
  if (epilogue.relu) problem.epilogue.activation = TW_RELU;
  return problem;
}

std::vector<float> Conv2dBuffers::take_output(int set) const {
  constexpr std::size_t most_taken = std::size_t{1} << 22;
  const auto elements = static_cast<std::size_t>(what_.output_elements());
  const std::size_t count = std::min(elements, most_taken), first = count / 2;
  std::vector<std::uint16_t> bits(count);
  const auto* output = static_cast<const std::uint16_t*>(d(set));
  must(cudaDeviceSynchronize(), "Waiting for a convolution");
  must(cudaMemcpy(bits.data(), output, 2 * first, cudaMemcpyDeviceToHost), "Reading an output");
  must(cudaMemcpy(bits.data() + first, output + elements - (count - first), 2 * (count - first),
                  cudaMemcpyDeviceToHost),
       "Reading an output");
  must(cudaMemset(d(set), 0xff, 2 * elements), "Poisoning an output");
  must(cudaDeviceSynchronize(), "Poisoning an output");
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(read_element(what_.type, &bits[i]));
  }
  return values;
}

}  // namespace tw::bench
