// Chunks of 16 bytes on their way to shared memory while the thread goes on.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/cp_async.h"
#include "tilewright/layout/shared_tile.h"

namespace tw {

// A chunk of 16 bytes by cp.async, in pieces as large as the alignment allows.
struct AsyncCopy {
  static constexpr bool keeps_major = true;  // lines of shared memory are lines of global memory
  static constexpr unsigned least_alignment = 4;
  static constexpr unsigned at_once = 0, most_at_once = 0;  // nothing waits in registers

  // `line` is the first element of the chunk, of which the first `count` lie inside.
  template <class T>
  static TW_DEVICE void chunk(SharedAddress destination, const T* line, std::int64_t /*step*/,
                              int count, unsigned alignment) {
    const unsigned bytes = static_cast<unsigned>(count) * unsigned{sizeof(T)};
    if (alignment >= 16) {
      isa::cp_async<16>(destination, line, bytes);
    } else if (alignment == 8) {
      pieces<8>(destination, line, bytes);
    } else {
      pieces<4>(destination, line, bytes);
    }
  }

  // The copies so far are one group; all but the latest `pending` groups have landed.
  static TW_DEVICE void commit() { isa::cp_async_commit_group(); }
  template <unsigned pending>
  static TW_DEVICE void wait() {
    isa::cp_async_wait_group<pending>();
  }

 private:
  template <unsigned piece, class T>
  static TW_DEVICE void pieces(SharedAddress destination, const T* line, unsigned bytes) {
    const SharedTile<Chunk<piece>, single(16 / piece, 1)> to(destination);
    TW_UNROLL
    for (unsigned i = 0; i < 16 / piece; ++i) {
      const unsigned at = i * piece;
      const unsigned inside = bytes > at ? bytes - at : 0;
      // Outside nothing is read; the address then only has to be one.
      const T* source = inside > 0 ? line + at / sizeof(T) : line;
      isa::cp_async<piece>(to.address(i), source, inside < piece ? inside : piece);
    }
  }
};

}  // namespace tw
