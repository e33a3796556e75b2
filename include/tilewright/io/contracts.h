// What a loader supplies. A sentence stands once, where its member is asked for: docs/parts.md is
// made of them.
#pragma once

#include <type_traits>

#include "tilewright/io/completion.h"
#include "tilewright/io/tiling.h"

namespace tw {

// A loader has these members unless it says otherwise.
struct UsualLoader {
  static constexpr bool clears = false;
  static constexpr bool loads_weights_first = false;
  static constexpr bool loads_own_first = false;
  static constexpr bool fills_apart = false;
};

// Brings the operands of a stage; one thread issues copies (`elected`), or all of a role copy.
template <class Loader>
consteval bool is_loader() {
  static_assert(
      requires { typename Loader::Params; },
      "A loader must have 'Params': what a launch tells it.");
  static_assert(
      requires { bool{Loader::elected}; },
      "A loader must have 'elected': whether one thread of its role issues all copies.");
  static_assert(
      requires { Completion{Loader::completion}; },
      "A loader must have 'completion': how the arrival of its bytes is announced.");
  static_assert(
      requires { unsigned{Loader::arrivals}; },
      "A loader must have 'arrivals': how often its role arrives for each stage.");
  static_assert(
      requires { unsigned{Loader::stages_held}; },
      "A loader must have 'stages_held': stages whose copies are still on their way when 'load' "
      "returns.");
  static_assert(
      requires { unsigned{Loader::least_alignment}; },
      "A loader must have 'least_alignment': bytes that lines of A and B are aligned to.");
  static_assert(
      requires { Tiling{Loader::in_shared()}; },
      "A loader must have 'in_shared()': the Tiling as operands lie in shared memory.");
  static_assert(
      requires { bool{Loader::clears}; },
      "A loader must have 'clears', or UsualLoader's: whether rows that no copy fills are cleared "
      "before the start, by 'clear'.");
  static_assert(
      requires(Loader loader) { loader.finish(); },
      "A loader must have 'finish()': waits for the copies of the last stages.");
  static_assert(
      requires(const typename Loader::Params& params) { Loader(params, 0u); },
      "A loader must be made of '(params, thread)': its Params, and which thread of the role it "
      "serves.");
  return true;
}
template <class Loader>
concept TileLoader = is_loader<Loader>();

// The class that has the member function.
template <class Class, class Function>
std::type_identity<Class> class_of(Function Class::*);

// Whether no class that overrides 'load' has left 'load_own' to its base.
template <class Loader, class Stage, class WorkTile>
consteval bool overrides_both() {
  if constexpr (!Loader::loads_own_first)
    return true;
  else
    return requires {
      requires std::is_base_of_v<
          typename decltype(class_of(&Loader::template load<Stage, WorkTile>))::type,
          typename decltype(class_of(&Loader::template load_own<Stage, WorkTile>))::type>;
    };
}

// The same, asked when the ring is known: `Stage` is a stage in the hands of who fills it.
template <class Loader, class Stage, class WorkTile>
consteval bool loads_stages() {
  static_assert(
      requires { bool{Loader::loads_weights_first}; },
      "A loader must have 'loads_weights_first', or UsualLoader's: whether it begins with "
      "'load_weights' before the grids before have ended, and goes on with 'load_rest'.");
  static_assert(
      requires { bool{Loader::loads_own_first}; },
      "A loader must have 'loads_own_first', or UsualLoader's: whether it begins with 'load_own', "
      "copies that reach no other CTA, before the cluster has met, and goes on with 'load_rest'.");
  static_assert(
      requires { bool{Loader::fills_apart}; },
      "A loader must have 'fills_apart', or UsualLoader's: whether each warp fills slots of its "
      "own, those that 'fills(slot)' tells.");
  static_assert(
      requires(Loader loader, const Stage& stage, const WorkTile& tile) {
        loader.load(stage, tile, 0);
      },
      "A loader must have 'load(stage, tile, k)': issues the copies of k-tile 'k' of a work tile.");
  static_assert(
      requires {
        requires overrides_both<Loader, Stage, WorkTile>();  // load_own as load
      },
      "A loader must have 'load_own' where it overrides a base's 'load': begins with copies that "
      "reach no other CTA, unless 'loads_own_first' is false.");
  return true;
}

}  // namespace tw
