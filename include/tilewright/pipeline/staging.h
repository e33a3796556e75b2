// The output pipeline of one warpgroup: buffers in shared memory between its fragments and TMA
// stores.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma_store.h"

namespace tw {

// All 128 threads of a warpgroup write a buffer; one of them stores it. Stores are waited for
// lazily: only when their buffer is wanted again.
template <unsigned buffer_bytes, unsigned num_buffers, class Trace>
class Staging {
 public:
  static constexpr unsigned threads = 128;
  struct Buffers {
    alignas(1024) unsigned char bytes[num_buffers][buffer_bytes];
  };

  class Buffer {
   public:
    TW_DEVICE explicit Buffer(unsigned char* bytes) : bytes_(bytes) {}
    TW_DEVICE SharedAddress address() const { return isa::shared_address(bytes()); }
    TW_DEVICE unsigned char* bytes() const { return bytes_; }

   private:
    unsigned char* bytes_;
  };

  // The first of the buffers that were acquired, and what is done with all of them.
  class Token : public Buffer {
   public:
    Token(const Token&) = delete;
    TW_DEVICE ~Token() {
      if (staging_->stores_) isa::cp_async_bulk_commit_group();
      staging_->trace_.releases();
    }
    TW_DEVICE Buffer buffer(unsigned index) const {
      return Buffer(this->bytes() + index * buffer_bytes);
    }
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
        : Buffer(staging->buffers_.bytes[slot]), staging_(staging) {}
    Staging* staging_;
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

  // Every call takes the same count: what is published together is stored and awaited together.
  template <unsigned count = 1>
  [[nodiscard]] TW_DEVICE Token acquire() {
    static_assert(num_buffers % count == 0, "Buffers that go together must be a part of all.");
    const unsigned slot = next_;
    trace_.waits(slot);
    if (stores_) isa::cp_async_bulk_wait_group_read<num_buffers / count - 1>();
    isa::barrier_sync(barrier_, threads);
    trace_.goes();
    next_ = next_ + count == num_buffers ? 0 : next_ + count;
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
