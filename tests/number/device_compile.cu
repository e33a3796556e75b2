// The number headers in device code. The kernel is compiled, not run; what it computes is checked
// by the compiler, in the device pass, and by the unit tests on the host.
#include "tilewright/number/convert.h"
#include "tilewright/number/mx.h"
#include "tilewright/number/nvfp4.h"
#include "tilewright/number/packed.h"

namespace tw {
namespace {

static_assert(Bf16(1.0f).bits == 0x3f80 && E4m3(449.0f).bits == 0x7e && E2m1(5.0f).bits == 0x6);
static_assert(to_float(Fp16::from_bits(0x0001)) == 0x1p-24f && Ue8m0(5.0f).bits == 0x82);
static_assert(E5m2::from_float(1e9f, Overflow::infinity_or_nan).bits == 0x7c);

template <class T>
__device__ float there_and_back(float value) {
  return to_float(from_float<T>(value));
}

template <class... Ts>
__device__ float through_all(float value) {
  return (there_and_back<Ts>(value) + ...);
}

}  // namespace

__global__ void convert_all(float* out, const float* in) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = through_all<float, Tf32, Bf16, Fp16, E5m2, E4m3, Ue4m3, E5m2Fnuz, E4m3Fnuz, E3m2, E2m3,
                       E2m1, Ue8m0, std::int8_t, std::int32_t>(in[i]) +
           to_float(Ue8m0::round_down(in[i])) +
           to_float(Tf32::from_float(in[i], Overflow::infinity_or_nan, Rounding::toward_zero)) +
           NumberTraits<E4m3>::max_finite;
}

__global__ void quantise_all(std::uint8_t* packed, Ue8m0* mx_scales, Ue4m3* nvfp4_scales,
                             float* out, const float* in) {
  const std::size_t block = threadIdx.x;
  const std::span<const float> values(in + block * mx_block, mx_block);
  const std::span<float> result(out + block * mx_block, mx_block);

  E3m2 elements[mx_block];
  const std::span<Ue8m0> mx_scale(mx_scales + block, 1);
  quantise_mx<E3m2>(elements, mx_scale, values, MxScale::rceil);
  dequantise_mx<E3m2>(result, elements, mx_scale);
  pack<E3m2>({packed + block * packed_bytes<E3m2>(mx_block), packed_bytes<E3m2>(mx_block)},
             elements);

  E2m1 halves[mx_block];
  const std::span<Ue4m3> scales(nvfp4_scales + 2 * block, 2);
  const float tensor_scale = nvfp4_tensor_scale(values);
  quantise_nvfp4(halves, scales, values, tensor_scale);
  dequantise_nvfp4(result, halves, scales, tensor_scale);
}

}  // namespace tw
