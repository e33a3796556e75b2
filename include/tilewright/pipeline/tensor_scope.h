// Tensor memory that one warp owns and others use: it allocates, announces, and frees.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/threads.h"

namespace tw {

// So many columns, a power of two from 32 to 512. Beside the owner, `users` warps meet it once, at
// a named barrier of their own: whoever waits there knows the address.
template <unsigned columns, unsigned users>
struct TensorScope {
  static constexpr unsigned barrier = 2;  // 0 is the CTA's and 1 the epilogue's
  static constexpr unsigned threads = 32 * (1 + users);
  struct Storage {
    std::uint32_t address;
  };

  // Whole warps enter and leave it: the memory is freed when it dies. Before that, the owner has
  // heard of everything that the others did with the memory.
  class [[nodiscard]] Owner {
   public:
    TW_DEVICE explicit Owner(Storage& storage) {
      isa::tcgen05_alloc<1>(isa::shared_address(&storage.address), columns);
      isa::tcgen05_relinquish_alloc_permit<1>();
      isa::tcgen05_fence_before_thread_sync();
      isa::barrier_sync(barrier, threads);
      address_ = isa::load_shared_4(isa::shared_address(&storage.address));
    }
    Owner(const Owner&) = delete;
    TW_DEVICE TensorAddress address() const { return address_; }
    TW_DEVICE ~Owner() {
      isa::warp_sync();
      isa::tcgen05_dealloc<1>(address_, columns);
    }

   private:
    TensorAddress address_;
  };

  // A user's address of the lanes that its warp reaches; `thread` counts in its warpgroup.
  static TW_DEVICE TensorAddress lanes_of(Storage& storage, unsigned thread) {
    isa::barrier_sync(barrier, threads);
    isa::tcgen05_fence_after_thread_sync();
    return isa::load_shared_4(isa::shared_address(&storage.address)) + ((thread / 32 * 32) << 16);
  }
};

}  // namespace tw
