// What a skeleton expects of its parts: those of the layers below, and its own, programs and
// streams. A part that lacks a member is refused by a sentence that names it.
#pragma once

#include "tilewright/epilogue/contracts.h"
#include "tilewright/io/contracts.h"
#include "tilewright/kernel/roles.h"
#include "tilewright/op/contracts.h"
#include "tilewright/pipeline/contracts.h"
#include "tilewright/schedule/contracts.h"

namespace tw {

// The loops over k, as the warp-specialised skeleton calls them: the rings that a program names,
// and the classes that play its roles on them.
template <class Program>
consteval bool is_program() {
  static_assert(
      requires { typename Program::Stages; },
      "A program must have 'Stages': the tiles of its rings, in shared memory.");
  static_assert(
      requires { typename Program::Signals; },
      "A program must have 'Signals': the barriers of its rings, in shared memory.");
  static_assert(
      requires { typename Program::LoaderParams; },
      "A program must have 'LoaderParams': what a launch tells the role that loads.");
  static_assert(
      requires { typename Program::OwnParams; },
      "A program must have 'OwnParams': what a launch tells its other roles.");
  static_assert(
      requires {
        bool{Program::Loads::waits};
        bool{Program::Loads::begins_alone};
      },
      "A program must have 'Loads': the role that loads; its 'waits' says whether it waits for the "
      "grids before itself, 'begins_alone' whether 'begin_alone' may load before the cluster has "
      "met.");
  static_assert(
      requires { typename Program::Multiplies; },
      "A program must have 'Multiplies': the role that multiplies.");
  static_assert(
      requires { typename Program::Adds; },
      "A program must have 'Adds': how partial sums that are handed over join their total.");
  static_assert(
      requires(typename Program::Signals & signals, typename Program::Stages & stages) {
        Program::init(signals, stages);
      },
      "A program must have 'init(signals, stages)': one thread calls it before the start.");
  static_assert(
      requires { bool{Program::clears}; },
      "A program must have 'clears': whether all threads call 'clear' before the start.");
  return true;
}
template <class Program>
concept KernelProgram = is_program<Program>();

// A stream has these members unless it says otherwise.
struct UsualStream {
  TW_DEVICE void ask_early(unsigned /*tile*/) const {}
};

// The streaming skeleton takes tiles through a stream, in registers.
template <class Stream>
consteval bool is_stream() {
  static_assert(
      requires { typename Stream::Params; },
      "A stream must have 'Params': what a launch tells it.");
  static_assert(
      requires { typename Stream::Storage; },
      "A stream must have 'Storage': its shared memory; an empty struct where it has none.");
  static_assert(
      requires { unsigned{Stream::threads}; }, "A stream must have 'threads': of a CTA.");
  static_assert(
      requires { unsigned{Stream::least_ctas}; },
      "A stream must have 'least_ctas': how many CTAs an SM must have room for.");
  static_assert(
      requires(Stream stream) { stream.ask_early(0u); },
      "A stream must have 'ask_early(tile)', or UsualStream's: asks for memory of its first tile "
      "that no earlier grid writes.");
  static_assert(
      requires(Stream stream) { stream.pass(0u); },
      "A stream must have 'pass(tile)': reads, computes and writes one tile.");
  static_assert(
      requires(const typename Stream::Params& params, typename Stream::Storage& storage) {
        Stream(params, storage, 0u);
      },
      "A stream must be made of '(params, storage, thread)': its Params, its shared memory, and "
      "which thread it serves.");
  return true;
}
template <class Stream>
concept TileStream = is_stream<Stream>();

template <class Payload>
constexpr bool every_role_is_played(const RoleTable& roles) {
  for (const Part& part : Payload::parts) {
    if (part.loaded_by.arrivals > 0 && !roles.spec_of(part.loaded_by.role).played()) return false;
  }
  return true;
}

// Whether CTAs of a cluster meet: the tiling says how many there are, or each launch does.
template <class Kernel>
inline constexpr bool runs_in_cluster = Kernel::tiling.cluster.size() > 1 || requires {
  requires Kernel::parts_in_cluster;
};

}  // namespace tw
