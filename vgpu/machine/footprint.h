// What a step of a run touches. Whoever tries all orders of steps asks it which of them commute.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tw::vgpu {

enum class TouchKind : std::uint8_t {
  Reads,
  Writes,
  Adds,  // commutes with other additions
};

enum class TouchSpace : std::uint8_t {
  Shared,        // bytes of a CTA's shared memory; an mbarrier is its eight bytes
  Global,        // bytes by address
  NamedBarrier,  // a CTA's
  Exit,          // whether threads of a cluster are left
  Process,       // what only one step makes possible: a landing, or the end of a sleep
};

struct Touch {
  TouchSpace space;
  TouchKind kind;
  unsigned cta;
  std::uint64_t begin, end;
  bool operator==(const Touch&) const = default;

  bool conflicts_with(const Touch& other) const {
    if (space != other.space || cta != other.cta) return false;
    if (end <= other.begin || other.end <= begin) return false;
    return kind != other.kind || kind == TouchKind::Writes;
  }
};

struct Footprint {
  std::vector<Touch> touches;
  bool everything = false;  // nobody has said what it touches: it may conflict with any step
  bool operator==(const Footprint&) const = default;

  bool conflicts_with(const Footprint& other) const {
    if (everything || other.everything) return true;
    return std::any_of(touches.begin(), touches.end(), [&](const Touch& mine) {
      return std::any_of(other.touches.begin(), other.touches.end(),
                         [&](const Touch& theirs) { return mine.conflicts_with(theirs); });
    });
  }
};

// Gathers the footprint of the step that runs now; nothing where nobody asks. An instruction that
// does not say what it touches touches everything.
class StepRecord {
 public:
  explicit StepRecord(bool is_on) : is_on_(is_on) {}
  bool is_on() const { return is_on_; }

  void begin_instruction() { is_untold_ = true; }
  bool is_untold() const { return is_untold_; }
  void set_untold(bool untold) { is_untold_ = untold; }

  // The instruction, or landing, records all that it touches beside its thread's own.
  void tells() { is_untold_ = false; }
  void everything() { taken_.everything = true; }
  void shared(TouchKind kind, unsigned cta, std::uint32_t offset, std::uint32_t bytes) {
    add({TouchSpace::Shared, kind, cta, offset, std::uint64_t{offset} + bytes});
  }
  void global(TouchKind kind, const void* address, std::uint64_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    add({TouchSpace::Global, kind, 0, begin, begin + bytes});
  }
  void named_barrier(TouchKind kind, unsigned cta, unsigned id) {
    add({TouchSpace::NamedBarrier, kind, cta, id, id + 1u});
  }
  void exit_of(TouchKind kind, unsigned cluster) { add({TouchSpace::Exit, kind, cluster, 0, 1}); }
  void process(TouchKind kind, std::uint64_t id) {
    add({TouchSpace::Process, kind, 0, id, id + 1});
  }

  // The step is over.
  Footprint take() {
    taken_.everything |= is_untold_;
    is_untold_ = false;
    return std::exchange(taken_, {});
  }

 private:
  void add(const Touch& touch) {
    if (is_on_) taken_.touches.push_back(touch);
  }

  bool is_on_;
  bool is_untold_ = false;
  Footprint taken_;
};

}  // namespace tw::vgpu
