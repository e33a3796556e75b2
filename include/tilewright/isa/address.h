// Addresses as instructions take them: of shared memory, of barriers that copies signal, and of
// tensor maps.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"

namespace tw {

// An address in the shared::cluster window, 32 bits wide as in PTX. The own CTA's window starts at
// the value that shared_address() gives for the first byte of shared memory.
using SharedAddress = std::uint32_t;

// A barrier as copies take it: they count their bytes there. No barrier instruction takes it, so
// that whoever only copies cannot arrive or wait.
class CopySignal {
 public:
  TW_HOST_DEVICE constexpr CopySignal(SharedAddress barrier) : barrier_(barrier) {}
  TW_HOST_DEVICE constexpr SharedAddress in_copy() const { return barrier_; }

 private:
  SharedAddress barrier_;
};

// A TMA descriptor: 128 opaque bytes, filled by launch/tensor_map.h for the GPU or the virtual GPU.
struct alignas(64) TensorMap {
  std::uint64_t words[16];
};

}  // namespace tw
