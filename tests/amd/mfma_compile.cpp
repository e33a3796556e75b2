// Every mfma that isa/amdgcn/mfma.h has for a target, each once: tests/amd/instructions.py counts
// them in the assembly.
#include "tilewright/isa/amdgcn/mfma.h"
#if defined(__gfx950__)
#include "tilewright/isa/amdgcn/mfma_scaled.h"
#endif

using namespace tw;

template <MfmaShape shape>
__attribute__((device)) void product(float*& to, const std::uint32_t* from) {
  std::uint32_t a[shape.registers()], b[shape.registers()];
  isa::MfmaSum<shape> d[shape.sums()];
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  unsigned at = 64 * lane;
  for (auto& value : a) value = from[at++];
  for (auto& value : b) value = from[at++];
  for (auto& value : d) value = static_cast<isa::MfmaSum<shape>>(from[at++]);
  isa::mfma<shape>(d, a, b);
  for (const auto value : d) *to++ = static_cast<float>(value);
}

template <MfmaType a, MfmaType b = a>
__attribute__((device)) void products(float*& to, const std::uint32_t* from) {
  constexpr unsigned k = bytes_of(a) == 2 ? 16 : 32;
  product<MfmaShape{a, b, 16, k}>(to, from);
  product<MfmaShape{a, b, 32, k / 2}>(to, from);
#if defined(__gfx950__)
  if constexpr (bytes_of(a) == 2) {
    product<MfmaShape{a, b, 16, 2 * k}>(to, from);
    product<MfmaShape{a, b, 32, k}>(to, from);
  }
#endif
}

#if defined(__gfx950__)
template <MfmaType a_type, MfmaType b_type>
__attribute__((device)) void scaled_product(float*& to, const std::uint32_t* from) {
  constexpr MfmaScaledShape shape = {a_type, b_type};
  std::uint32_t a[shape.registers(a_type)], b[shape.registers(b_type)];
  float d[shape.sums];
  unsigned at = 64 * __builtin_amdgcn_workitem_id_x();
  for (auto& value : a) value = from[at++];
  for (auto& value : b) value = from[at++];
  for (auto& value : d) value = static_cast<float>(from[at++]);
  isa::mfma_scaled<shape>(d, a, b, from[at], from[at + 1]);
  for (const auto value : d) *to++ = value;
}
#endif

extern "C" __attribute__((global)) void all_products(float* to, const std::uint32_t* from) {
#if defined(__gfx950__)
  constexpr MfmaType e4m3 = MfmaType::E4m3, e5m2 = MfmaType::E5m2;
#else
  constexpr MfmaType e4m3 = MfmaType::E4m3Fnuz, e5m2 = MfmaType::E5m2Fnuz;
#endif
  products<MfmaType::Bf16>(to, from);
  products<MfmaType::F16>(to, from);
  products<MfmaType::S8>(to, from);
  products<e4m3>(to, from);
  products<e4m3, e5m2>(to, from);
  products<e5m2, e4m3>(to, from);
  products<e5m2>(to, from);
#if defined(__gfx950__)
  product<MfmaShape{e4m3, e4m3, 16, 128}>(to, from);
  product<MfmaShape{e4m3, e5m2, 16, 128}>(to, from);
  product<MfmaShape{e5m2, e4m3, 16, 128}>(to, from);
  product<MfmaShape{e5m2, e5m2, 16, 128}>(to, from);
  scaled_product<e4m3, e4m3>(to, from);
  scaled_product<e5m2, e4m3>(to, from);
  scaled_product<MfmaType::E2m3, MfmaType::E3m2>(to, from);
  scaled_product<MfmaType::E2m1, e4m3>(to, from);
#endif
}
