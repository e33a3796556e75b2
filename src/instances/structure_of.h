// The structure of a kernel, read off its types by the compiler: nothing is written down twice.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>

#include "src/instances/structure.h"
#include "tilewright/io/tiling.h"
#include "tilewright/kernel/streaming.h"
#include "tilewright/kernel/warp_specialized.h"
#include "tilewright/pipeline/tensor_accumulators.h"
#include "tilewright/pipeline/turns.h"

namespace tw {

// The rings of a program: a product has one, other programs have up to four. The size of the stages
// tells whether one is forgotten.
template <class Program, class Visit>
constexpr void each_ring(const Visit& visit) {
  if constexpr (requires { typename Program::Queries; }) {
    if constexpr (Program::transposes) visit.template operator()<typename Program::LoadedValues>();
    // Keys may be converted on their way.
    if constexpr (requires { requires Program::converts; }) {
      visit.template operator()<typename Program::LoadedKeys>();
    }
    visit.template operator()<typename Program::Queries>();
    visit.template operator()<typename Program::Keys>();
    // Values may be columns of the keys.
    if constexpr (requires { typename Program::Values; }) {
      visit.template operator()<typename Program::Values>();
    }
  } else {
    visit.template operator()<typename Program::Ring>();
    // Scales may have a ring of their own.
    if constexpr (requires { typename Program::ScaleRing; }) {
      visit.template operator()<typename Program::ScaleRing>();
    }
  }
}

namespace detail {

template <class Part>
concept Something = !std::is_empty_v<Part>;

// By a template's own arguments, which its members do not all name.
template <class>
struct TurnFacts {
  static constexpr unsigned groups = 0, warps = 0;
};
template <unsigned turn_groups, unsigned group_warps>
struct TurnFacts<Turns<turn_groups, group_warps>> {
  static constexpr unsigned groups = turn_groups, warps = group_warps;
};
// Sums in tensor memory: (columns, sums, CTAs that multiply as one, columns that two share).
template <unsigned n, class Value, unsigned sums, unsigned group, class Trace, int promote,
          unsigned shared, unsigned readers>
constexpr std::array<unsigned, 4> tensor_sums(
    const TensorAccumulators<n, Value, sums, group, Trace, promote, shared, readers>*) {
  return {n, sums, group, shared};
}
template <class>
struct BoardFacts;
template <template <unsigned, unsigned, ClusterShape, bool> class Board, unsigned num_slots,
          unsigned num_listeners, ClusterShape cluster, bool from_launcher>
struct BoardFacts<Board<num_slots, num_listeners, cluster, from_launcher>> {
  static constexpr unsigned slots = num_slots, listeners = num_listeners, ctas = cluster.size();
};

// A role that loads or reads several parts arrives once for all of them.
constexpr void add_arrivals(Structure::List<RoleArrivals, 6>& list, RoleArrivals more) {
  if (more.arrivals == 0) return;
  for (unsigned i = 0; i < list.count; ++i) {
    RoleArrivals& known = list.entries[i];
    if (known.role != more.role) continue;
    known.arrivals = std::max(known.arrivals, more.arrivals);
    return;
  }
  list.add(more);
}
constexpr Structure::List<Structure::Waiter, 6> roles_of(
    const Structure::List<RoleArrivals, 6>& list) {
  Structure::List<Structure::Waiter, 6> roles;
  for (const RoleArrivals& entry : list) roles.add({entry.role});
  return roles;
}

template <class Ring>
constexpr void add_ring(Structure& structure, unsigned rings = 1) {
  using Payload = typename Ring::Payload;
  Structure::Flow flow;
  flow.name = Payload::name;
  flow.rings = rings;
  flow.stages = Ring::stages;
  flow.in_tensor_memory = std::is_empty_v<typename Ring::Tiles>;
  flow.stage_bytes = flow.in_tensor_memory ? 0 : unsigned{sizeof(typename Ring::Tiles)};
  Structure::Signal full, empty;
  full.name = Payload::full_name;
  empty.name = Payload::empty_name;
  full.is_counter = empty.is_counter = Ring::Signal::stride == 4;
  full.count = empty.count = Ring::stages;
  full.arrivals = Ring::full_arrivals;
  empty.arrivals = Ring::empty_arrivals;
  empty.ctas = Ring::empty_arrivals / Ring::Counts::empty_arrivals;
  full.publishes = "what the stage holds";
  empty.publishes = "that the stage may be overwritten";
  for (const Part& part : Payload::parts) {
    if (part.loaded_by.arrivals == 0) continue;
    flow.parts.add(part);
    if (part.completion == Completion::TransactionBytes) full.bytes += part.bytes * Ring::group;
    add_arrivals(full.arrive, part.loaded_by);
    for (const RoleArrivals& reader : part.read_by) add_arrivals(empty.arrive, reader);
  }
  full.wait = roles_of(empty.arrive);
  empty.wait = roles_of(full.arrive);
  structure.flows.add(flow);
  structure.signals.add(full);
  structure.signals.add(empty);
}

// A ring between the roles that multiply and finish, in tensor memory.
template <class Accumulators>
constexpr void add_tensor_sums(Structure& structure) {
  if constexpr (requires { tensor_sums(static_cast<const Accumulators*>(nullptr)); }) {
    constexpr auto facts = tensor_sums(static_cast<const Accumulators*>(nullptr));
    const auto [columns, sums, group, shared] = facts;
    constexpr RoleArrivals multiplies = {Role::Multiply, 1};
    Structure::Flow flow;
    flow.name = "accumulator";
    flow.stages = shared == 0 ? sums : 1;  // sums that overlap take turns
    flow.in_tensor_memory = true;
    unsigned warps = 0;
    for (const Structure::Played& played : structure.roles) {
      if (played.role == Role::Epilogue) warps = played.warps;
    }
    flow.parts.add({0, Completion::Commit, multiplies, {{Role::Epilogue, warps}}});
    structure.flows.add(flow);
    Structure::Signal full = {"accumulator.full", false, flow.stages, 1};
    full.arrive.add(multiplies);
    full.publishes = "a whole sum";
    full.wait.add({Role::Epilogue});
    Structure::Signal empty = {"accumulator.empty", false, flow.stages, warps * group};
    empty.arrive.add({Role::Epilogue, warps});
    empty.ctas = group;
    empty.publishes = "that the sum was read";
    empty.wait.add({Role::Multiply});
    structure.signals.add(full);
    structure.signals.add(empty);
    structure.tensor_columns = std::max(32u, std::bit_ceil(sums * columns - shared));
    if constexpr (requires { Accumulators::scale_columns; }) {  // within, or beside
      structure.tensor_columns =
          std::min(512u, structure.tensor_columns + Accumulators::scale_columns);
    }
  }
}

// What roles of attention hand to each other through tensor memory, and factors beside it.
template <class Accumulators>
constexpr void add_tensor_rings(Structure& structure) {
  if constexpr (requires { typename Accumulators::Memory; }) {
    using Memory = typename Accumulators::Memory;
    add_ring<typename Memory::template RingOf<typename Memory::Scores>>(structure);
    add_ring<typename Memory::template RingOf<typename Memory::Weights>>(structure);
    add_ring<typename Memory::template RingOf<typename Memory::Sums>>(structure);
    add_ring<typename Memory::template RingOf<typename Memory::Factors>>(structure);
    structure.tensor_columns = Memory::tiles * Memory::tile_columns;
  }
}

template <class Turns>
constexpr void add_turns(Structure& structure) {
  if constexpr (TurnFacts<Turns>::groups > 0) {
    Structure::Signal turn;
    turn.name = "turn";
    turn.count = TurnFacts<Turns>::groups;
    turn.arrivals = TurnFacts<Turns>::warps;
    turn.arrive.add({Role::Multiply, turn.arrivals});
    turn.publishes = "that the group before is done with its turn";
    turn.wait.add({Role::Multiply});
    structure.signals.add(turn);
  }
}

// Work that one role asks for and all others learn of.
template <class Schedule>
constexpr void add_schedule(Structure& structure) {
  if constexpr (requires { typename Schedule::Board; }) {
    using Board = BoardFacts<typename Schedule::Board>;
    Structure::Signal full, empty, began;
    full = {"work.full", false, Board::slots, 1, Schedule::Board::message_bytes};
    full.arrive.add({Role::Schedule, 1});
    full.publishes = "which work comes next";
    empty = {"work.empty", false, Board::slots, Board::listeners * Board::ctas};
    empty.ctas = Board::ctas;
    empty.publishes = "that the message was read";
    empty.wait.add({Role::Schedule});
    for (const Structure::Played& played : structure.roles) {
      full.wait.add({played.role});
      const unsigned speakers = played.elected ? 1 : played.warps;
      add_arrivals(empty.arrive, {played.role, speakers});
    }
    began = {"work.began", false, 1, 1};
    began.arrive.add({Role::Load, 1});
    began.publishes = "that the latest work has begun";
    began.wait.add({Role::Schedule});
    for (const Structure::Signal& signal : {full, empty, began}) structure.signals.add(signal);
  }
}

// Parts of sums that CTAs of a cluster send to the one that finishes.
template <class Reduction>
constexpr void add_reduction(Structure& structure, Role adds) {
  if constexpr (requires { &Reduction::Storage::channels; }) {
    using Channel = std::remove_all_extents_t<decltype(Reduction::Storage::channels)>;
    constexpr unsigned slots = std::extent_v<decltype(Channel::full)>;
    Structure::Signal full, empty;
    full = {"part.full", false, slots, 1, unsigned{sizeof(Channel::chunks)} / slots};
    empty = {"part.empty", false, slots, 1};
    full.publishes = "a chunk of another CTA's sums";
    empty.publishes = "that the chunk was added";
    for (Structure::Signal* signal : {&full, &empty}) {
      signal->arrive.add({adds, 1});
      signal->wait.add({adds});
      structure.signals.add(*signal);
    }
  }
}

template <class Kernel>
constexpr void add_roles(Structure& structure) {
  using Program = typename Kernel::Recipe::template Program<Kernel>;
  constexpr RoleTable table = Kernel::roles;
  const auto add = [&](Role role, const RoleSpec& spec, bool elected, unsigned groups = 1) {
    if (!spec.played()) return;
    unsigned registers = 0;
    if (table.holding().registers != 0)
      registers = spec.registers != 0 ? spec.registers : table.load.registers;
    structure.roles.add({role, spec.first_warp, spec.warps, groups, registers, elected});
  };
  add(Role::Load, table.load, Kernel::Loader::elected);
  if constexpr (table.own[0].spec.played()) {
    add(table.own[0].role, table.own[0].spec, Program::template Own<0>::elected);
  }
  if constexpr (table.own[1].spec.played()) {
    add(table.own[1].role, table.own[1].spec, Program::template Own<1>::elected);
  }
  add(Role::Schedule, table.schedule, true);
  add(Role::Source, table.source, true);
  add(Role::Multiply, table.multiply, Kernel::Op::elected, table.groups);
  add(Role::Epilogue, table.epilogue, false, table.storing_groups());
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
// The rings of the program, and what it says that lies beside them.
template <class Program, class Storage, bool has_signals>
constexpr void add_memory(Structure& structure) {
  const auto add = [&]<class Member>(const char* name, std::size_t offset) {
    if constexpr (Something<std::remove_all_extents_t<Member>>) {
      structure.memory.add(
          {name, static_cast<unsigned>(offset), static_cast<unsigned>(sizeof(Member))});
    }
  };
  using Stages = decltype(Storage::stages);
  constexpr unsigned alignment = alignof(Stages);
  const auto aligned = [](unsigned bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  unsigned offset = 0;
  for (const Structure::Flow& flow : structure.flows) {
    offset = aligned(offset);
    structure.memory.add({flow.name, offset, flow.stages * flow.stage_bytes});
    offset += flow.stages * flow.stage_bytes;
  }
  if constexpr (requires { Program::beside; }) {
    for (const auto& [name, bytes] : Program::beside) {
      offset = aligned(offset);
      structure.memory.add({name, offset, bytes});
      offset += bytes;
    }
  }
  require(aligned(offset) == sizeof(Stages), "A program names all of its rings.");
  if constexpr (has_signals) {
    add.template operator()<decltype(Storage::output)>("output buffers", offsetof(Storage, output));
    add.template operator()<decltype(Storage::sources)>("sources", offsetof(Storage, sources));
    add.template operator()<decltype(Storage::signals)>("signals of rings",
                                                        offsetof(Storage, signals));
    add.template operator()<decltype(Storage::turns)>("turns", offsetof(Storage, turns));
    add.template operator()<decltype(Storage::reduction)>("parts of sums",
                                                          offsetof(Storage, reduction));
    add.template operator()<decltype(Storage::schedule)>("work", offsetof(Storage, schedule));
    add.template operator()<decltype(Storage::accumulators)>("signals of accumulators",
                                                             offsetof(Storage, accumulators));
  }
}
#pragma GCC diagnostic pop

}  // namespace detail

// `Kernel` is a kernel of the warp-specialised skeleton.
template <class Kernel>
constexpr Structure read_warp_specialized() {
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  using Program = typename Kernel::Recipe::template Program<Kernel>;
  constexpr ClusterShape cluster = Kernel::tiling.cluster;
  Structure structure;
  structure.threads = Skeleton::threads;
  structure.lanes = Kernel::roles.lanes;
  structure.cluster_m = cluster.m;
  structure.cluster_n = cluster.n;
  structure.cluster_k = cluster.k;
  structure.pair = Kernel::tiling.group;
  structure.shared_bytes = sizeof(typename Skeleton::Storage);
  structure.shared_limit = Kernel::Target::shared_bytes;
  detail::add_roles<Kernel>(structure);
  each_ring<Program>([&]<class Ring>() { detail::add_ring<Ring>(structure); });
  // Where nothing but stages is shared, all meet at one barrier, and nobody signals.
  constexpr bool has_signals = requires { &Skeleton::Storage::signals; };
  detail::add_memory<Program, typename Skeleton::Storage, has_signals>(structure);
  if constexpr (!has_signals) {
    structure.signals.count = 0;
    return structure;
  } else {
    detail::add_tensor_sums<typename Kernel::Accumulators>(structure);
    detail::add_tensor_rings<typename Kernel::Accumulators>(structure);
    if constexpr (requires { typename Kernel::Sources::Ring; }) {
      detail::add_ring<typename Kernel::Sources::Ring>(structure, Skeleton::storing_groups);
    }
    detail::add_turns<typename Kernel::Turns>(structure);
    if constexpr (requires { typename Program::Order; }) {
      detail::add_turns<typename Program::Order>(structure);
    }
    detail::add_schedule<typename Kernel::Schedule>(structure);
    detail::add_reduction<typename Kernel::Reduction>(
        structure, Kernel::roles.epilogue.played() ? Role::Epilogue : Role::Multiply);
    return structure;
  }
}
template <class Kernel>
inline constexpr Structure structure_of_warp_specialized = read_warp_specialized<Kernel>();

// All threads of a streaming kernel play one role, and nothing flows between threads.
template <class Kernel>
constexpr Structure read_streaming() {
  using Skeleton = kernel::Streaming<Kernel>;
  Structure structure;
  structure.threads = Skeleton::threads;
  structure.lanes = Kernel::Target::target.lanes;
  structure.roles.add({"stream", 0, Skeleton::threads / structure.lanes});
  if constexpr (detail::Something<typename Skeleton::Storage>) {
    structure.shared_bytes = sizeof(typename Skeleton::Storage);
    structure.memory.add({"what threads share", 0, structure.shared_bytes});
  }
  return structure;
}
template <class Kernel>
inline constexpr Structure structure_of_streaming = read_streaming<Kernel>();

}  // namespace tw
