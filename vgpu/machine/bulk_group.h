// The bulk groups of one thread: its TMA stores, in the order in which it committed them. A thread
// waits until the stores of a group have read their source; when they write global memory it
// neither knows nor needs to.
#pragma once

#include <cstdint>
#include <deque>

namespace tw::vgpu {

class BulkGroups {
 public:
  // Groups are counted since the thread began; the open one, where stores go, follows the last.
  std::uint64_t committed() const { return committed_; }
  std::uint64_t known_done() const { return known_done_; }  // groups that the thread has waited for
  bool all_known_done() const { return known_done_ == committed_ && !open_used_; }

  void issue() {
    ++open_reads_;
    open_used_ = true;
  }
  void commit() {
    reads_.push_back(open_reads_);
    open_reads_ = 0;
    open_used_ = false;
    ++committed_;
    forget_done();
  }
  void landed_read(std::uint64_t group) {
    --(group == committed_ ? open_reads_ : reads_[reads_.size() - (committed_ - group)]);
    forget_done();
  }
  // All but the `pending` latest groups have read their source.
  bool done(std::uint64_t pending) const {
    if (reads_.size() <= pending) return true;
    for (std::size_t i = 0; i < reads_.size() - pending; ++i) {
      if (reads_[i] != 0) return false;
    }
    return true;
  }
  void waited(std::uint64_t pending) {
    if (committed_ > pending + known_done_) known_done_ = committed_ - pending;
  }

 private:
  void forget_done() {
    while (!reads_.empty() && reads_.front() == 0) reads_.pop_front();
  }

  std::deque<unsigned> reads_;  // still to come, of the latest committed groups
  unsigned open_reads_ = 0;
  bool open_used_ = false;
  std::uint64_t committed_ = 0;
  std::uint64_t known_done_ = 0;
};

}  // namespace tw::vgpu
