// Vector loads and stores of the own workgroup's LDS. The compiler waits for what is used
// (s_waitcnt lgkmcnt). Addresses are aligned to the size of the access.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

template <unsigned count>
struct LocalWords {
  typedef std::uint32_t Words __attribute__((ext_vector_type(count), may_alias));
  static TW_DEVICE __attribute__((address_space(3))) Words* at(SharedAddress address) {
    return reinterpret_cast<__attribute__((address_space(3))) Words*>(address);
  }
  static TW_DEVICE void load(std::uint32_t (&words)[count], SharedAddress address) {
    const Words loaded = *at(address);
    __builtin_memcpy(words, &loaded, sizeof(words));
  }
  static TW_DEVICE void store(SharedAddress address, const std::uint32_t (&words)[count]) {
    Words stored;
    __builtin_memcpy(&stored, words, sizeof(words));
    *at(address) = stored;
  }
};

// ds_read_b32
TW_DEVICE std::uint32_t load_shared_4(SharedAddress address) {
  std::uint32_t words[1];
  LocalWords<1>::load(words, address);
  return words[0];
}
// ds_read_b64
TW_DEVICE void load_shared_8(std::uint32_t (&words)[2], SharedAddress address) {
  LocalWords<2>::load(words, address);
}
// ds_read_b128
TW_DEVICE void load_shared_16(std::uint32_t (&words)[4], SharedAddress address) {
  LocalWords<4>::load(words, address);
}
// ds_write_b32
TW_DEVICE void store_shared_4(SharedAddress address, std::uint32_t word) {
  const std::uint32_t words[1] = {word};
  LocalWords<1>::store(address, words);
}
// ds_write_b64
TW_DEVICE void store_shared_8(SharedAddress address, const std::uint32_t (&words)[2]) {
  LocalWords<2>::store(address, words);
}
// ds_write_b128
TW_DEVICE void store_shared_16(SharedAddress address, const std::uint32_t (&words)[4]) {
  LocalWords<4>::store(address, words);
}

}  // namespace tw::isa
