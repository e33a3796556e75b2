// The skeletons ask a TileOp for these members.
#pragma once

#include "tilewright/pipeline/payload.h"

namespace tw {

// A TileOp has these members unless it says otherwise.
struct UsualOp {
  static constexpr bool takes_two = false;
};

// Multiplies a stage that is full into an accumulator.
template <class Op>
consteval bool is_op() {
  static_assert(
      requires { bool{Op::elected}; },
      "A TileOp must have 'elected': whether one thread issues all products.");
  static_assert(
      requires { Release{Op::release}; },
      "A TileOp must have 'release': who says that a stage has been read.");
  static_assert(
      requires { unsigned{Op::releases}; },
      "A TileOp must have 'releases': how often a group arrives when a stage was read.");
  static_assert(
      requires { unsigned{Op::stages_held}; },
      "A TileOp must have 'stages_held': stages that products still read when 'multiply' returns.");
  static_assert(
      requires { unsigned{Op::speaker(0u)}; },
      "A TileOp must have 'speaker(thread)': 0 for the threads that release stages.");
  static_assert(
      requires(Op op) { bool{op.leads()}; },
      "A TileOp must have 'leads()': false for a CTA whose partner multiplies for it.");
  static_assert(
      requires { bool{Op::takes_two}; },
      "A TileOp must have 'takes_two', or UsualOp's: whether 'multiply(sum, stage, next)' "
      "multiplies a stage and the one that 'next()' is at once.");
  if constexpr (!Op::elected) {
    static_assert(
        requires { typename Op::Accumulator; },
        "A TileOp must have 'Accumulator' where all threads of a group multiply: the sums that it "
        "adds to.");
  }
  return true;
}
template <class Op>
concept TileOp = is_op<Op>();

// The same, asked when the ring is known: `Stage` is a stage in the hands of who reads it.
template <class Op, class Sum, class Stage>
consteval bool multiplies_stages() {
  static_assert(
      requires(Op op, Sum & sum, Stage & stage) { op.multiply(sum, stage); },
      "A TileOp must have 'multiply(sum, stage)': adds the products of a stage.");
  static_assert(
      requires(Op op, Sum & sum) { op.finish(sum); },
      "A TileOp must have 'finish(sum)': waits for the products of the last stages.");
  return true;
}

}  // namespace tw
