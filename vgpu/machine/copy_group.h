// The cp.async copies of one thread: which of them have landed, by groups and by arrivals at
// mbarriers. Epochs cut the copies wherever somebody may wait for those so far; one is open.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "vgpu/machine/clock.h"

namespace tw::vgpu {

class CopyGroups {
 public:
  Epoch open_epoch() const { return first_ + static_cast<Epoch>(in_flight_.size()) - 1; }
  Epoch issued() const { return issued_; }    // the epoch of the latest copy
  Epoch known_done() const { return done_; }  // the thread has waited for copies up to here
  // Somebody else has been told to wait for copies up to here.
  Epoch announced() const { return announced_; }
  std::size_t committed() const { return group_ends_.size(); }

  void issue() {
    ++in_flight_.back();
    issued_ = open_epoch();
  }
  void commit() {
    group_ends_.push_back(open_epoch());
    close_epoch();
  }
  // An arrival that follows all copies so far.
  Epoch announce() {
    announced_ = open_epoch();
    close_epoch();
    return announced_;
  }
  void landed(Epoch epoch, unsigned copies) {
    in_flight_[epoch - first_] -= copies;
    forget_landed();
  }
  bool have_landed(Epoch through) const { return through < first_; }
  // The last epoch that wait_group waits for; 0: none.
  Epoch epoch_to_wait_for(unsigned pending) const {
    return group_ends_.size() <= pending ? 0 : group_ends_[group_ends_.size() - 1 - pending];
  }
  void waited(Epoch through) { done_ = through > done_ ? through : done_; }

 private:
  void close_epoch() {
    in_flight_.push_back(0);
    forget_landed();
  }
  void forget_landed() {
    while (in_flight_.size() > 1 && in_flight_.front() == 0) {
      in_flight_.pop_front();
      ++first_;
    }
  }

  std::deque<unsigned> in_flight_ = {0};  // copies, by epoch; the last is the open one
  Epoch first_ = 1;
  std::vector<Epoch> group_ends_;
  Epoch issued_ = 0, done_ = 0, announced_ = 0;
};

}  // namespace tw::vgpu
