// Stores chunks of rows as pixels of images, between which others lie: TMA im2col finds the pixels.
#pragma once

#include "tilewright/epilogue/staged_store.h"
#include "tilewright/io/divisor.h"
#include "tilewright/isa/ptx/im2col.h"

namespace tw {

// `Staged` is a StagedStore of rows of 128 bytes.
template <class Staged>
class PixelStore : public Staged {
  static_assert(Staged::row_bytes == 128, "Columns of pixels are stored by 128 bytes of each.");

 public:
  struct Params : Staged::Params {
    Divisor width;  // of the images that D is made of
    Divisor height;
    unsigned gaps;  // 1: `map` is of columns of chunk_rows pixels (c, w, h, n)
  };

  template <class... Others>
  TW_DEVICE PixelStore(const Params& params, Others&&... others)
      : Staged(params, others...), params_(params) {}

  template <class Buffer>
  TW_DEVICE void close(Buffer& buffer, const Place& place, int m, int n, bool gates) {
    if (params_.gaps == 0) return Staged::close(buffer, place, m, n, gates);
    if (!buffer.publish()) return;
    const auto [line, w] = params_.width.divide(static_cast<unsigned>(place.row));
    const auto [image, h] = params_.height.divide(line);
    const int at[4] = {place.column, static_cast<int>(w), static_cast<int>(h),
                       static_cast<int>(image)};
    isa::cp_async_bulk_tensor_store_im2col(&params_.map, buffer.address(), at);
  }

 private:
  const Params& params_;
};

}  // namespace tw
