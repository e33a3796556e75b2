#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "src/families/conv2d_peer_finish.h"

namespace tw::bench {

namespace {

// 16 bytes at a time.
template <class T>
struct alignas(16) Eight {
  T values[8];
};

template <class T>
__device__ T finished(T value, const T* residual, const T* bias, bool relu) {
  float sum = float(value);
  if (residual != nullptr) sum += float(*residual);
  if (bias != nullptr) sum += float(*bias);
  return T(relu ? fmaxf(sum, 0.0f) : sum);
}

// `columns` is a multiple of 8.
template <class T>
__global__ void finish_kernel(Eight<T>* d, const Eight<T>* residual, const T* bias, bool relu,
                              std::size_t eights, unsigned columns) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= eights) return;
  Eight<T> value = d[i];
  Eight<T> other;
  if (residual != nullptr) other = residual[i];
  const unsigned column = static_cast<unsigned>(i * 8 % columns);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    value.values[j] = finished(value.values[j], residual == nullptr ? nullptr : &other.values[j],
                               bias == nullptr ? nullptr : bias + column + j, relu);
  }
  d[i] = value;
}

template <class T>
void launch(void* d, const void* residual, const void* bias, bool relu, std::size_t eights,
            unsigned columns, cudaStream_t stream) {
  constexpr unsigned threads = 256;
  const auto blocks = static_cast<unsigned>((eights + threads - 1) / threads);
  finish_kernel<<<blocks, threads, 0, stream>>>(static_cast<Eight<T>*>(d),
                                                static_cast<const Eight<T>*>(residual),
                                                static_cast<const T*>(bias), relu, eights, columns);
}

}  // namespace

void finish(void* d, const void* residual, const void* bias, bool relu, ElementType type,
            std::int64_t rows, std::int64_t columns, void* stream) {
  const auto eights = static_cast<std::size_t>(rows * columns / 8);
  const auto width = static_cast<unsigned>(columns);
  const auto on = static_cast<cudaStream_t>(stream);
  if (type == ElementType::Fp16) return launch<__half>(d, residual, bias, relu, eights, width, on);
  launch<__nv_bfloat16>(d, residual, bias, relu, eights, width, on);
}

}  // namespace tw::bench
