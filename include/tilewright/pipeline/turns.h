// Turns among warpgroups that consume one ring tile by tile. A parity tells only one lap of a ring
// from the next, so a group may not wait for its stages before the group ahead has consumed all of
// its own.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/pipeline/mbarrier.h"

namespace tw {

template <unsigned groups, unsigned group_warps>
class Turns {
 public:
  struct Barriers {
    std::uint64_t go[groups];  // go[g]: arrives each warp of the group before g; publishes that
                               // its stages are all consumed; waited by group g
  };

  static TW_DEVICE void init(Barriers& barriers) {
    for (unsigned group = 0; group < groups; ++group) {
      const SharedAddress go = isa::shared_address(&barriers.go[group]);
      isa::mbarrier_init(go, group_warps);
      isa::describe_barrier(go, "turn", group);
    }
  }

  // Passes the turn on when it dies: each warp by itself, for a tile without k-tiles has nothing
  // else that would keep a warp from being a turn ahead of another.
  class Token {
   public:
    Token(const Token&) = delete;
    TW_DEVICE ~Token() {
      isa::warp_sync();
      if (speaks_) isa::mbarrier_arrive(next_);
    }

   private:
    friend Turns;
    TW_DEVICE Token(SharedAddress next, bool speaks) : next_(next), speaks_(speaks) {}
    SharedAddress next_;
    bool speaks_;
  };

  // The first group's first turn comes without a signal.
  TW_DEVICE Turns(Barriers& barriers, unsigned group, unsigned thread_in_group)
      : own_(isa::shared_address(&barriers.go[group])),
        next_(isa::shared_address(&barriers.go[(group + 1) % groups])),
        lap_(group == 0 ? 1 : 0),
        speaks_(thread_in_group % 32 == 0) {}

  [[nodiscard]] TW_DEVICE Token take() {
    wait_for_phase(own_, lap_);
    lap_ ^= 1;
    return Token(next_, speaks_);
  }

 private:
  SharedAddress own_;
  SharedAddress next_;
  unsigned lap_;
  bool speaks_;
};

}  // namespace tw
