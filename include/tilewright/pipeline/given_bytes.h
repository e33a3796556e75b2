// Stages of which as many bytes come as a launch says: those of boxes that fill parts of them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/completion.h"
#include "tilewright/isa/ptx/threads.h"

namespace tw {

// A token has it in place of the signals that announce the constant bytes of its parts.
class GivenBytes {
 public:
  TW_DEVICE void expect(unsigned bytes) { come_ = bytes; }
  template <class Ring, Completion completion, unsigned>
  TW_DEVICE void announce(SharedAddress full) const {
    static_assert(completion == Completion::TransactionBytes && Ring::group == 1,
                  "Bytes are given for TMA's copies into the stages of one CTA.");
    isa::mbarrier_arrive_expect_tx(full, come_);
  }

 private:
  unsigned come_ = 0;
};

}  // namespace tw
