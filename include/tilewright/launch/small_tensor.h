// A bug of drivers: on Blackwell, they set a bit of TMA descriptors wrongly for tensors that span
// less than 128 KiB and are not dense, and copies then end now and then in an illegal instruction.
#pragma once

#include <cstdint>

#include "tilewright/launch/tensor_map.h"

namespace tw {

// From a tensor's first byte to the end of its last line.
constexpr std::int64_t span_bytes(const MatrixBox& box) {
  return box.inner * bits_in(box.type) / 8 + (box.outer - 1) * box.pitch_bytes +
         (box.batch - 1) * box.batch_pitch_bytes;
}
constexpr std::int64_t span_bytes(const Im2colBox& box) {
  std::int64_t bytes = box.extents[0] * bytes_of(box.type);
  for (unsigned i = 1; i < box.rank; ++i) bytes += (box.extents[i] - 1) * box.pitch_bytes[i - 1];
  return bytes;
}

// Bit 85 chooses how addresses outside of the tensor are found. The drivers of CUDA up to 13.3
// may set it wrongly (forward-compatible ones say 13.2 or 13.3, and still do); later ones may have
// reasons to set it.
constexpr void mend_small_tensor(TensorMap& map, std::int64_t span, int driver_version) {
  constexpr std::int64_t small = 128 << 10;
  constexpr int last_with_the_bug = 13030;
  if (span < small && driver_version <= last_with_the_bug) {
    map.words[85 / 64] &= ~(std::uint64_t{1} << 85 % 64);
  }
}

}  // namespace tw
