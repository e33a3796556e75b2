// Turns among warpgroups by named barriers: as Turns, where a group takes as many as the others.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/threads.h"

namespace tw {

// Barrier first + g is of the turns of group g: all threads of the group before arrive, whose
// products are issued then, and all of group g wait.
template <unsigned groups, unsigned group_threads, unsigned first>
class NamedTurns {
  static constexpr unsigned threads = 2 * group_threads;

 public:
  struct Barriers {};
  static TW_DEVICE void init(Barriers&) {}

  // Passes the turn on when it dies.
  class Token {
   public:
    Token(const Token&) = delete;
    TW_DEVICE ~Token() { isa::barrier_arrive(next_, threads); }

   private:
    friend NamedTurns;
    TW_DEVICE explicit Token(unsigned next) : next_(next) {}
    unsigned next_;
  };

  // The last group passes on the first turn.
  TW_DEVICE NamedTurns(Barriers&, unsigned group, unsigned /*thread_in_group*/)
      : own_(first + group), next_(first + (group + 1) % groups) {
    if (next_ == first) isa::barrier_arrive(first, threads);
  }
  NamedTurns(const NamedTurns&) = delete;
  // The first group takes the turn that nobody needs: no barrier is left with arrivals.
  TW_DEVICE ~NamedTurns() {
    if (own_ == first) isa::barrier_sync(own_, threads);
  }

  [[nodiscard]] TW_DEVICE Token take() {
    isa::barrier_sync(own_, threads);
    return Token(next_);
  }

 private:
  unsigned own_;
  unsigned next_;
};

}  // namespace tw
