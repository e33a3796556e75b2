// What the skeleton expects of its parts. A part that lacks a member is refused by its name.
#pragma once

#include <concepts>

#include "tilewright/base/converts.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/tiling.h"
#include "tilewright/kernel/roles.h"

namespace tw {

// What a ring signals with.
template <class Signal>
concept RingSignal = requires {
  typename Signal::template Storage<2>;
  { Signal::stride } -> ConvertsTo<unsigned>;
  { Signal::next_lap(0u) } -> std::same_as<unsigned>;
  { Signal::later_lap(0u, 1u) } -> std::same_as<unsigned>;
};

// A page of arch/: the target's limits, and which mechanism plays each part.
template <class Page>
concept TargetPage = requires {
  Page::target;
  Page::shared_bytes;
  Page::registers;
  Page::in_clusters;
  requires RingSignal<typename Page::Signal>;
  typename Page::template Loader<Tiling{}, RoleTable{}>;
};

// Brings the operands of a stage; one thread issues copies (`elected`), or all of a role copy.
template <class Loader>
concept TileLoader = requires(Loader loader) {
  typename Loader::Params;
  { Loader::elected } -> ConvertsTo<bool>;
  { Loader::clears } -> ConvertsTo<bool>;
  { Loader::completion } -> ConvertsTo<Completion>;
  { Loader::arrivals } -> ConvertsTo<unsigned>;
  { Loader::stages_held } -> ConvertsTo<unsigned>;
  { Loader::least_alignment } -> ConvertsTo<unsigned>;
  { Loader::in_shared() } -> std::same_as<Tiling>;
  loader.finish();
};

// Multiplies a stage that is full into an accumulator.
template <class Op>
concept TileOp = requires {
  { Op::elected } -> ConvertsTo<bool>;
  { Op::release } -> ConvertsTo<Release>;
  { Op::releases } -> ConvertsTo<unsigned>;
  { Op::stages_held } -> ConvertsTo<unsigned>;
  { Op::speaker(0u) } -> std::same_as<unsigned>;
};

// Takes values of an epilogue to D.
template <class Store>
concept TileStore = requires(Store store) {
  typename Store::Params;
  typename Store::Buffers;
  typename Store::OutputTrace;
  { Store::chunk_columns } -> ConvertsTo<unsigned>;
  store.drain();
};

// Says which work comes next.
template <class Schedule>
concept WorkSchedule = requires {
  typename Schedule::Params;
  typename Schedule::Storage;
  typename Schedule::template Reader<Release::Warp>;
  { Schedule::one_wave } -> ConvertsTo<bool>;
  { Schedule::draws_tickets } -> ConvertsTo<bool>;
};

// The loops over k, as the skeleton calls them: the rings that a program names, and the classes
// that play its roles on them.
template <class Program>
concept KernelProgram = requires {
  typename Program::Stages;
  typename Program::Signals;
  typename Program::LoaderParams;
  typename Program::OwnParams;
  typename Program::Loads;
  typename Program::Multiplies;
  typename Program::Adds;
};

template <class Payload>
constexpr bool every_role_is_played(const RoleTable& roles) {
  for (const Part& part : Payload::parts) {
    if (part.loaded_by.arrivals > 0 && !roles.spec_of(part.loaded_by.role).played()) return false;
  }
  return true;
}

}  // namespace tw
