// What the signal of a ring supplies.
#pragma once

namespace tw {

// Tells the two ends of a ring that a stage is full, or empty again.
template <class Signal>
consteval bool is_signal() {
  static_assert(
      requires { typename Signal::template Storage<2>; },
      "A signal must have 'template <unsigned stages> struct Storage': its barriers or counters, "
      "in shared memory.");
  static_assert(
      requires { unsigned{Signal::stride}; },
      "A signal must have 'stride': bytes from the barrier of a stage to the next.");
  static_assert(
      requires { unsigned{Signal::next_lap(0u)}; },
      "A signal must have 'next_lap(lap)': what is waited for, once around the ring.");
  static_assert(
      requires { unsigned{Signal::later_lap(0u, 1u)}; },
      "A signal must have 'later_lap(lap, laps)': the same, several times around.");
  return true;
}

// The same, asked when the ring is known.
template <class Signal, class Ring>
consteval bool signals() {
  static_assert(
      requires(typename Ring::Barriers & barriers) { Signal::template init<Ring>(barriers); },
      "A signal must have 'init<Ring>(barriers)': one thread calls it before the start.");
  static_assert(
      requires { Signal::template wait_full<Ring>(0u, 0u); },
      "A signal must have 'wait_full<Ring>(barrier, lap)': waits until a stage is full.");
  static_assert(
      requires { Signal::template wait_empty<Ring>(0u, 0u); },
      "A signal must have 'wait_empty<Ring>(barrier, lap)': waits until a stage has been read.");
  return true;
}

}  // namespace tw
