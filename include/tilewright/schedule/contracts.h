// What orders, maps, schedules and reductions supply: which work comes next, and who adds up sums
// that are made in parts.
#pragma once

#include "tilewright/pipeline/payload.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// Says where tile `index` lies: neighbours in time should be neighbours in the L2.
template <class Order>
consteval bool is_order() {
  static_assert(
      requires { typename Order::Params; }, "An order must have 'Params': what a launch tells it.");
  static_assert(
      requires(const typename Order::Params& params) { TileAt{Order::at(params, 0, 1, 1)}; },
      "An order must have 'at(params, index, tiles_m, tiles_n)': where the tile of this index "
      "lies.");
  return true;
}
template <class Order>
concept TileOrder = is_order<Order>();

// Says what work `index` is: which output tile, and which part of its sum.
template <class Map>
consteval bool is_map() {
  static_assert(
      requires { typename Map::Params; }, "A map must have 'Params': what a launch tells it.");
  static_assert(
      requires(const Map& map) { bool{map.has(0)}; },
      "A map must have 'has(index)': whether there is work of this index.");
  static_assert(
      requires(const Map& map) { WorkTile{map.tile(0)}; },
      "A map must have 'tile(index)': the work of this index, as a WorkTile.");
  static_assert(
      requires(const typename Map::Params& params) { Map(params); },
      "A map must be made of '(params)': its Params, which it may refer to.");
  return true;
}
template <class Map>
concept WorkMap = is_map<Map>();

// Says which work comes next, to every role alike.
template <class Schedule>
consteval bool is_schedule() {
  static_assert(
      requires { typename Schedule::Params; },
      "A schedule must have 'Params': what a launch tells it.");
  static_assert(
      requires { typename Schedule::Storage; },
      "A schedule must have 'Storage': its shared memory; an empty struct where it has none.");
  static_assert(
      requires { typename Schedule::template Reader<Release::Warp>; },
      "A schedule must have 'template <Release> class Reader': a role's view of it, with "
      "'tiles(key)', 'begin()' and 'look_ahead()'.");
  static_assert(
      requires { bool{Schedule::one_wave}; },
      "A schedule must have 'one_wave': whether the grid is what fits the device at once.");
  static_assert(
      requires { bool{Schedule::draws_tickets}; },
      "A schedule must have 'draws_tickets': whether a counter in a workspace says what comes "
      "next.");
  static_assert(
      requires { bool{Schedule::knows_first}; },
      "A schedule must have 'knows_first': whether the launch alone says which work is a cluster's "
      "first.");
  static_assert(
      requires(typename Schedule::Storage & storage) { Schedule::init(storage); },
      "A schedule must have 'init(storage)': one thread calls it before the start.");
  return true;
}
template <class Schedule>
concept WorkSchedule = is_schedule<Schedule>();

// The same where a role asks for work.
template <class Schedule, class Trace>
consteval bool is_asked() {
  static_assert(
      requires { typename Schedule::template Asker<Trace>; },
      "A schedule must have 'template <class Trace> class Asker' where a role asks for work: its "
      "'ask(begins)' announces "
      "the next work, its 'drain()' waits until all have heard.");
  return true;
}

// Adds up sums that are made in parts.
template <class Reduction>
consteval bool is_reduction() {
  static_assert(
      requires { typename Reduction::Params; },
      "A reduction must have 'Params': what a launch tells it.");
  static_assert(
      requires { typename Reduction::Storage; },
      "A reduction must have 'Storage': its shared memory; an empty struct where it has none.");
  static_assert(
      requires { bool{Reduction::in_parts}; },
      "A reduction must have 'in_parts': whether sums come in parts, of which those that do not "
      "finish a tile are left by 'deposit'.");
  static_assert(
      requires { bool{Reduction::in_shares}; },
      "A reduction must have 'in_shares': whether every part finishes a share of the tile, as "
      "'finishes(tile)' tells.");
  static_assert(
      requires(typename Reduction::Storage & storage) { Reduction::init(storage); },
      "A reduction must have 'init(storage)': one thread calls it before the start.");
  static_assert(
      requires(Reduction reduction) { reduction.drain(); },
      "A reduction must have 'drain()': waits for what it still reads or writes.");
  return true;
}
template <class Reduction>
concept SumReduction = is_reduction<Reduction>();

// The same, asked when the sums are known.
template <class Reduction, class Sum>
consteval bool reduces() {
  static_assert(
      requires(Reduction reduction, const Sum& sum, const WorkTile& tile) {
        reduction.collect(sum, tile);
      },
      "A reduction must have 'collect(sum, tile)': the whole sum, as an epilogue reads it.");
  return true;
}

}  // namespace tw
