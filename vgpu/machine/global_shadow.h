// Shadow memory of a range of global memory that kernels may write: for every four bytes, who wrote
// them last and who has read them since. Memory that is only read has none; pages are made when
// somebody touches them, nine bytes for each byte there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/machine/shadow.h"

namespace tw::vgpu {

// Whoever touches global memory: a thread, or an agent. Its cluster may be long gone.
struct GlobalActor {
  unsigned cluster = 0;
  Slot slot = no_slot;
  bool generic = true;
  const char* agent = nullptr;  // "TMA store"; null: the thread itself
  const char* role = nullptr;
  unsigned thread = 0;
  unsigned cta = 0;
};

class GlobalActors {
 public:
  std::uint32_t number_of(const Access& access);
  const GlobalActor& operator[](std::uint32_t number) const { return actors_[number]; }

 private:
  struct Recent {
    std::uint64_t key = 0;
    std::uint32_t number = 0;
  };
  std::vector<GlobalActor> actors_ = {{}};  // 0 is nobody
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  Recent recent_[256];
};

struct GlobalRecord {
  Epoch epoch = 0;
  std::uint32_t actor : 25 = 0;
  std::uint32_t writes : 1 = 0;
  std::uint32_t atomic : 1 = 0;    // two such accesses need no order
  std::uint32_t has_more : 1 = 0;  // a cell's first record: others lie elsewhere
  std::uint32_t mask : 4 = 0;      // bytes of the cell; 0: no access
  Site site = {};
};

// An access to one or more pieces of global memory.
struct GlobalAccess {
  Access access = {};
  bool atomic = false;        // two such accesses need no order
  std::uint32_t actor = 0;    // 0: not numbered yet
  std::uint64_t ordered = 0;  // the access that was last found to come before
};

// Bytes in which an access met another without order.
struct GlobalConflict {
  GlobalRecord prior;
  std::size_t first = 0, last = 0;
};

class GlobalShadow {
 public:
  GlobalShadow(const void* begin, std::size_t bytes, const char* name);

  // `value` is what will be written; null: the bytes are read.
  void touch(Engine& machine, const void* begin, std::uint32_t bytes, const void* value,
             GlobalAccess& access);

 private:
  struct Cell {
    GlobalRecord records[3];
  };
  static constexpr std::size_t cell_bytes = 4;
  static constexpr std::size_t page_cells = 1024;
  static constexpr std::size_t most_elsewhere = 16;

  Cell& cell_at(std::size_t index);
  template <class Visit>
  void for_each_record(std::size_t index, Cell& cell, Visit&& visit);
  bool differs(std::size_t index, unsigned bytes, unsigned mask, const std::byte* value) const;
  void touch_cell(Engine& machine, std::size_t index, unsigned mask, const std::byte* value,
                  GlobalAccess& access, GlobalConflict& conflict);
  void note(std::size_t index, Cell& cell, const GlobalRecord& record);

  const std::byte* begin_;
  const char* name_;
  std::vector<std::unique_ptr<Cell[]>> pages_;
  std::unordered_map<std::size_t, std::vector<GlobalRecord>> elsewhere_;  // by cell
};

// global_race.cpp: the record's access came first, and the thread of this one can know.
bool comes_first(const Engine& machine, GlobalAccess& access, const GlobalRecord& record);
void report_global_race(Engine& machine, const char* range, const GlobalAccess& access, bool writes,
                        const GlobalConflict& conflict);

}  // namespace tw::vgpu
