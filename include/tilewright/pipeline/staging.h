// The output pipeline of one warpgroup: buffers in shared memory between its fragments and TMA
// stores.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma.h"

namespace tw {

// All 128 threads of a warpgroup write a buffer; one of them stores it. Stores are waited for
// lazily: only when their buffer is wanted again, `num_buffers` acquisitions later.
template <unsigned buffer_bytes, unsigned num_buffers, class Trace>
class Staging {
 public:
  static constexpr unsigned threads = 128;
  struct Buffers {
    alignas(1024) unsigned char bytes[num_buffers][buffer_bytes];
  };

  class Token {
   public:
    Token(const Token&) = delete;
    TW_DEVICE ~Token() {
      if (staging_->stores_) isa::cp_async_bulk_commit_group();
      staging_->trace_.releases();
    }
    TW_DEVICE SharedAddress address() const { return isa::shared_address(bytes()); }
    TW_DEVICE unsigned char* bytes() const { return bytes_; }
    // Every writer makes its writes visible to the copy engine, then all meet. True in the one
    // thread that issues the store.
    TW_DEVICE bool publish() {
      isa::fence_proxy_async();
      isa::barrier_sync(staging_->barrier_, threads);
      return staging_->stores_;
    }
    // The same where threads copy the buffer: a fence would wait for what they stored before.
    TW_DEVICE void meet() { isa::barrier_sync(staging_->barrier_, threads); }

   private:
    friend Staging;
    TW_DEVICE Token(Staging* staging, unsigned slot)
        : staging_(staging), bytes_(staging->buffers_.bytes[slot]) {}
    Staging* staging_;
    unsigned char* bytes_;
  };

  // `barrier` is a named barrier of this group alone.
  TW_DEVICE Staging(Buffers& buffers, unsigned barrier, unsigned thread_in_group, Trace trace)
      : buffers_(buffers), barrier_(barrier), stores_(thread_in_group == 0), trace_(trace) {
    if (!stores_) return;
    for (unsigned slot = 0; slot < num_buffers; ++slot) {
      isa::describe_shared(isa::shared_address(buffers.bytes[slot]), buffer_bytes, "output", slot);
    }
  }
  Staging(const Staging&) = delete;

  [[nodiscard]] TW_DEVICE Token acquire() {
    const unsigned slot = next_;
    trace_.waits(slot);
    if (stores_) isa::cp_async_bulk_wait_group_read<num_buffers - 1>();
    isa::barrier_sync(barrier_, threads);
    trace_.goes();
    next_ = next_ + 1 == num_buffers ? 0 : next_ + 1;
    return Token(this, slot);
  }

  // Shared memory must outlive the copies that read it.
  TW_DEVICE void drain() {
    if (stores_) isa::cp_async_bulk_wait_group_read<0>();
  }

 private:
  Buffers& buffers_;
  unsigned barrier_;
  unsigned next_ = 0;
  bool stores_;
  Trace trace_;
};

}  // namespace tw
