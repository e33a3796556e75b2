// Vector loads and stores of the own CTA's shared memory, by window address. Addresses are aligned
// to the size of the access.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/shared_memory.h"

namespace tw::isa {

// ld.shared::cta.b32 d, [address];  PTX 1.0, sm_10
TW_DEVICE std::uint32_t load_shared_4(SharedAddress address) {
  std::uint32_t word;
#if defined(__CUDACC__)
  asm volatile("ld.shared::cta.b32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
#else
  model::load_shared(&word, address, 4);
#endif
  return word;
}

// ld.shared::cta.v2.b32 {w0,w1}, [address];  PTX 1.0, sm_10
TW_DEVICE void load_shared_8(std::uint32_t (&words)[2], SharedAddress address) {
#if defined(__CUDACC__)
  asm volatile("ld.shared::cta.v2.b32 {%0, %1}, [%2];"
               : "=r"(words[0]), "=r"(words[1])
               : "r"(address)
               : "memory");
#else
  model::load_shared(words, address, 8);
#endif
}

// ld.shared::cta.v4.b32 {w0,w1,w2,w3}, [address];  PTX 1.0, sm_10
TW_DEVICE void load_shared_16(std::uint32_t (&words)[4], SharedAddress address) {
#if defined(__CUDACC__)
  asm volatile("ld.shared::cta.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address)
               : "memory");
#else
  model::load_shared(words, address, 16);
#endif
}

// st.shared::cta.b16 [address], value;  PTX 1.0, sm_10
TW_DEVICE void store_shared_2(SharedAddress address, std::uint16_t value) {
#if defined(__CUDACC__)
  asm volatile("st.shared::cta.b16 [%0], %1;" ::"r"(address), "h"(value) : "memory");
#else
  model::store_shared(address, &value, 2);
#endif
}

// st.shared::cta.b32 [address], word;  PTX 1.0, sm_10
TW_DEVICE void store_shared_4(SharedAddress address, std::uint32_t word) {
#if defined(__CUDACC__)
  asm volatile("st.shared::cta.b32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
#else
  model::store_shared(address, &word, 4);
#endif
}

// st.shared::cta.v2.b32 [address], {w0,w1};  PTX 1.0, sm_10
TW_DEVICE void store_shared_8(SharedAddress address, const std::uint32_t (&words)[2]) {
#if defined(__CUDACC__)
  asm volatile("st.shared::cta.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(words[0]), "r"(words[1])
               : "memory");
#else
  model::store_shared(address, words, 8);
#endif
}

// st.shared::cta.v4.b32 [address], {w0,w1,w2,w3};  PTX 1.0, sm_10
TW_DEVICE void store_shared_16(SharedAddress address, const std::uint32_t (&words)[4]) {
#if defined(__CUDACC__)
  asm volatile("st.shared::cta.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
#else
  model::store_shared(address, words, 16);
#endif
}

}  // namespace tw::isa
