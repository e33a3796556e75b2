// The bulk groups of one thread: its TMA stores, in the order in which it committed them. A store
// first reads its source, later it writes global memory; a thread may wait for either.
#pragma once

#include <cstdint>
#include <deque>

namespace tw::vgpu {

class BulkGroups {
 public:
  // The group of the next store, counted since the thread began.
  std::uint64_t open_group() const { return committed_; }
  std::uint64_t committed() const { return committed_; }
  std::uint64_t waited_reads() const { return waited_reads_; }
  bool open_group_used() const { return open_issued_; }

  void issue() {
    ++open_.reads;
    ++open_.writes;
    open_issued_ = true;
  }
  void commit() {
    groups_.push_back(open_);
    open_ = {};
    open_issued_ = false;
    ++committed_;
    forget_done();
  }
  void landed_read(std::uint64_t group) { --at(group).reads; }
  void landed_write(std::uint64_t group) {
    --at(group).writes;
    forget_done();
  }
  // All but the `pending` latest groups are done.
  bool done(std::uint64_t pending, bool reads_only) const {
    if (groups_.size() <= pending) return true;
    for (std::size_t i = 0; i < groups_.size() - pending; ++i) {
      if ((reads_only ? groups_[i].reads : groups_[i].writes) != 0) return false;
    }
    return true;
  }
  void waited(std::uint64_t pending) {
    if (committed_ > pending && committed_ - pending > waited_reads_) {
      waited_reads_ = committed_ - pending;
    }
  }

 private:
  struct Group {
    unsigned reads = 0, writes = 0;
  };
  void forget_done() {
    while (!groups_.empty() && groups_.front().writes == 0) groups_.pop_front();
  }
  // The open group follows the last committed one.
  Group& at(std::uint64_t group) {
    if (group == committed_) return open_;
    return groups_[groups_.size() - (committed_ - group)];
  }

  std::deque<Group> groups_;
  Group open_;
  bool open_issued_ = false;
  std::uint64_t committed_ = 0;
  std::uint64_t waited_reads_ = 0;  // groups that the thread knows to have read their source
};

}  // namespace tw::vgpu
