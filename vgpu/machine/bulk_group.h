// The bulk groups of one thread: its TMA stores, in the order in which it committed them. A thread
// waits until the stores of a group have read their source, or until they have written as well.
#pragma once

#include <cstdint>
#include <deque>

namespace tw::vgpu {

// What a thread waits for.
enum class BulkPart : std::uint8_t { Reads, Writes };

class BulkGroups {
 public:
  // Groups are counted since the thread began; the open one, where stores go, follows the last.
  std::uint64_t committed() const { return committed_; }
  std::uint64_t known_done() const { return known_done_; }  // groups that the thread has waited for
  std::uint64_t known_written() const { return known_written_; }
  bool all_known_done() const { return known_done_ == committed_ && open_.reads_issued == 0; }

  void issue() {
    ++open_.reads;
    ++open_.writes;
    ++open_.reads_issued;
  }
  void commit() {
    groups_.push_back(open_);
    open_ = {};
    ++committed_;
    forget_done();
  }
  void landed_read(std::uint64_t group) {
    --group_at(group).reads;
    forget_done();
  }
  void landed_write(std::uint64_t group) {
    --group_at(group).writes;
    forget_done();
  }
  // All but the `pending` latest groups have read their source, or written as well.
  bool done(std::uint64_t pending, BulkPart part) const {
    if (groups_.size() <= pending) return true;
    for (std::size_t i = 0; i < groups_.size() - pending; ++i) {
      if ((part == BulkPart::Reads ? groups_[i].reads : groups_[i].writes) != 0) return false;
    }
    return true;
  }
  void waited(std::uint64_t pending, BulkPart part) {
    if (committed_ <= pending) return;
    if (committed_ - pending > known_done_) known_done_ = committed_ - pending;
    if (part == BulkPart::Writes && committed_ - pending > known_written_) {
      known_written_ = committed_ - pending;
    }
  }

 private:
  struct Group {
    unsigned reads = 0, writes = 0;  // still to come
    unsigned reads_issued = 0;
  };
  Group& group_at(std::uint64_t group) {
    return group == committed_ ? open_ : groups_[groups_.size() - (committed_ - group)];
  }
  void forget_done() {
    while (!groups_.empty() && groups_.front().reads == 0 && groups_.front().writes == 0) {
      groups_.pop_front();
    }
  }

  std::deque<Group> groups_;  // the latest committed ones
  Group open_;
  std::uint64_t committed_ = 0;
  std::uint64_t known_done_ = 0, known_written_ = 0;
};

}  // namespace tw::vgpu
