// What a kernel is made of, for people: who plays which role, what flows between roles, who
// signals whom, where everything lies. Plain data; structure_of.h reads it off a kernel's types.
#pragma once

#include <initializer_list>
#include <string_view>

#include "tilewright/pipeline/payload.h"

namespace tw {

struct Structure {
  // So many entries.
  template <class Entry, unsigned capacity>
  struct List {
    Entry entries[capacity] = {};
    unsigned count = 0;

    constexpr void add(const Entry& entry) {
      require(count < capacity, "A kernel has more parts than its structure has room for.");
      entries[count++] = entry;
    }
    constexpr const Entry* begin() const { return entries; }
    constexpr const Entry* end() const { return entries + count; }
  };

  struct Played {
    Role role = Role::Load;
    unsigned first_warp = 0;
    unsigned warps = 0;
    unsigned groups = 1;     // groups of equally many warps
    unsigned registers = 0;  // each thread's, by setmaxnreg; 0: what the launch gives
    bool elected = false;    // one thread of it works, or of each group
  };

  // What one role, or several, fill and others read, stage by stage.
  struct Flow {
    const char* name = nullptr;  // "input"
    unsigned rings = 1;          // one for each group that stores
    unsigned stages = 0;
    unsigned stage_bytes = 0;  // in shared memory
    bool in_tensor_memory = false;
    List<Part, 4> parts = {};
  };

  struct Waiter {
    Role role = Role::Load;
  };

  // A signal of each stage, and its three facts.
  struct Signal {
    const char* name = nullptr;  // "input.full"
    bool is_counter = false;     // else an mbarrier
    unsigned count = 0;          // one for each stage, or for each group that takes turns
    unsigned arrivals = 0;       // that end a phase
    unsigned bytes = 0;          // that a phase expects beside
    List<RoleArrivals, 6> arrive = {};
    unsigned ctas = 1;  // in which they do
    const char* publishes = nullptr;
    List<Waiter, 6> wait = {};
  };

  struct Piece {
    const char* name = nullptr;
    unsigned offset = 0;
    unsigned bytes = 0;
  };

  unsigned threads = 0;
  unsigned lanes = 32;  // threads of a warp
  unsigned cluster_m = 1, cluster_n = 1, cluster_k = 1;
  unsigned pair = 1;            // CTAs that multiply as one
  unsigned shared_bytes = 0;    // what a CTA takes
  unsigned shared_limit = 0;    // what the target has
  unsigned tensor_columns = 0;  // allocated columns of tensor memory
  List<Played, 8> roles = {};
  List<Flow, 8> flows = {};
  List<Signal, 16> signals = {};
  List<Piece, 10> memory = {};
};

// The structures of instances, by name: structures.cpp.in makes those of a family known, apart
// from its instances.
struct KnownStructure {
  const char* instance;
  const Structure* structure;
};
class KnownStructures {
 public:
  explicit KnownStructures(std::initializer_list<KnownStructure> more);
};
// Null where none is known.
const Structure* structure_named(std::string_view instance);

}  // namespace tw
