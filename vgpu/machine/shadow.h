// Shadow memory: for every four bytes of a CTA's shared memory, who wrote them last, who has read
// them since, and which of them have been written at all. An access is judged against these records
// by the clock of whoever makes it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/machine/clock.h"
#include "vgpu/machine/site.h"

namespace tw::vgpu {

class Engine;
struct Cta;
struct Thread;

struct AccessRecord {
  Epoch epoch = 0;
  Slot slot = no_slot;
  std::uint8_t mask = 0;   // bytes of the cell; 0: no access
  std::uint8_t flags = 0;  // the cell's flags; used in its write record only
  Site site = {};
};

// One access, by a thread or by an agent on behalf of one.
struct Access {
  const Thread* thread;  // who executed the instruction
  const char* what;      // "wgmma", "stmatrix"
  Slot slot;             // who touches the memory, and when
  Epoch epoch;
  const Clock* known;               // may be null: nothing is known
  Slot self = no_slot;              // the thread whose own accesses come first in program order
  Epoch self_visible = 0;           // up to here they are visible to the async proxy
  bool async = false;               // through the async proxy
  bool fenced_reads = false;        // reads before it need a proxy fence, too
  std::uint64_t ordered_write = 0;  // the write that was last found to be ordered
  Site site = {};                   // where the instruction stands
  bool same_bytes = false;          // it writes what is there already, and may
  bool covers_unfenced = false;     // a copy that may overwrite what threads wrote before a barrier

  // Reads only have to come first; generic writes must also be visible to an async access.
  bool follows_read(const AccessRecord& read) const {
    return read.slot == self || (known != nullptr && known->covers(read.slot, read.epoch));
  }
  bool follows_write(const AccessRecord& write, bool is_generic) const {
    if (!async || !is_generic) return follows_read(write);
    if (write.slot == self) return write.epoch <= self_visible;
    return known != nullptr && known->shows(write.slot, write.epoch);
  }
};

struct Conflict {
  enum Kind { ReadOfNothing, ReadAfterWrite, WriteAfterWrite, WriteAfterRead, BarrierTouched };
  Kind kind;
  std::uint32_t offset;
  AccessRecord prior;
};

class Shadow {
 public:
  Shadow(Cta& cta, std::uint32_t shared_bytes);

  void read(Engine& machine, std::uint32_t offset, std::uint32_t bytes, Access& access);
  void write(Engine& machine, std::uint32_t offset, std::uint32_t bytes, Access& access);
  // From here on these bytes are a barrier, and nobody's data.
  void mark_barrier(std::uint32_t offset, std::uint32_t bytes);

  // Nobody's access is remembered; `written`: the bytes are somebody's data, else nobody's.
  void forget(std::uint32_t offset, std::uint32_t bytes, bool written);

  // The k-tile that a copy brought into these bytes; no_step if none did.
  void set_step(std::uint32_t offset, std::uint32_t bytes, std::uint64_t step);
  std::uint64_t step_at(std::uint32_t offset) const { return steps_[offset / step_line]; }

 private:
  struct Cell {
    AccessRecord write;
    AccessRecord reads[2];
  };
  // What does not fit into a cell: several readers, and writers of different bytes.
  struct Overflow {
    std::vector<AccessRecord> writes;
    std::vector<AccessRecord> reads;  // by slot, ascending
  };
  static constexpr std::uint32_t cell_bytes = 4;
  static constexpr std::uint32_t step_line = 128;
  static constexpr std::uint8_t written_mask = 0x0F;
  static constexpr std::uint8_t has_overflow = 0x10;
  static constexpr std::uint8_t is_barrier = 0x20;

  bool follows_write(const Access& access, const AccessRecord& write) const;
  // The same, or what the options excuse.
  bool may_cover(const Access& access, const AccessRecord& write) const;
  bool may_overwrite(const Access& access, const AccessRecord& read) const;
  template <class Visit>
  void for_each_cell(std::uint32_t offset, std::uint32_t bytes, Visit&& visit);
  void read_cell(Engine& machine, std::uint32_t index, std::uint8_t mask, Access& access);
  void write_cell(Engine& machine, std::uint32_t index, std::uint8_t mask, Access& access);
  bool note_read(Cell& cell, const AccessRecord& record, const Access& access);
  void note_overflow_read(std::uint32_t index, const AccessRecord& record);
  void write_overflow(Engine& machine, std::uint32_t index, std::uint8_t mask,
                      const Access& access);
  void report(Engine& machine, const Access& access, Conflict::Kind kind, std::uint32_t index,
              const AccessRecord& prior);

  Cta& cta_;
  std::vector<Cell> cells_;
  std::vector<std::uint64_t> steps_;
  // Entries stay when they are empty: the same cells need them again in the next lap.
  std::unordered_map<std::uint32_t, Overflow> overflow_;
};

// The slot writes through the generic proxy: a thread, or the copies of one.
bool is_generic_writer(const Cta& cta, Slot slot);

// Turns a conflict into a finding: conflict.cpp.
void report_conflict(Engine& machine, Cta& cta, const Access& access, const Conflict& conflict);

}  // namespace tw::vgpu
