// Parts of sums that the warps of a CTA have made, each of other k: they lie in shared memory,
// where any thread adds them up in the order of the warps.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/threads.h"
#include "tilewright/layout/access.h"
#include "tilewright/layout/element.h"

namespace tw {

template <unsigned warps, unsigned lines, unsigned length>
class WarpParts {
  using Pair = Vector<float, 2>;

 public:
  struct Storage {
    // The four floats behind a line let lanes of eight neighbours by four lines meet no bank twice.
    alignas(8) float parts[warps][lines][length + 4];
  };

  TW_DEVICE explicit WarpParts(Storage& storage) : storage_(storage) {}

  // All threads of the CTA call it; write(part) stores the own warp's, by set().
  template <class Write>
  TW_DEVICE void exchange(const Write& write) {
    // All threads arrive when they have read the parts before, which are overwritten now.
    if (is_used_) isa::barrier_sync(0, 32 * warps);
    is_used_ = true;
    write();
    // All threads arrive when their parts are written; all of them read these.
    isa::barrier_sync(0, 32 * warps);
  }
  TW_DEVICE void set(unsigned warp, unsigned line, unsigned at, float value) {
    store_element<Space::Shared>(&storage_.parts[warp][line][at], value);
  }
  // Adds up two neighbours; `at` is even.
  TW_DEVICE void sum(float& first, float& second, unsigned line, unsigned at) const {
    first = second = 0;
    TW_UNROLL
    for (unsigned warp = 0; warp < warps; ++warp) {
      const Pair pair = load_element<Space::Shared>(
          reinterpret_cast<const Pair*>(&storage_.parts[warp][line][at]));
      first += pair.get(0);
      second += pair.get(1);
    }
  }

 private:
  Storage& storage_;
  bool is_used_ = false;
};

}  // namespace tw
