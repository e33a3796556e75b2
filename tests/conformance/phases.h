// mbarrier: phases and parities, arrivals and transaction bytes in every order.
#pragma once

#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/tma.h"

namespace tw::conformance {

// One thread initialises a barrier of this CTA, and all may use it afterwards.
TW_DEVICE SharedAddress barrier_at(unsigned offset, unsigned arrivals, unsigned threads) {
  if (isa::thread_index() == 0) {
    isa::mbarrier_init(shared_at(offset), arrivals);
    isa::fence_mbarrier_init();
  }
  isa::barrier_sync(0, threads);
  return shared_at(offset);
}

// A fresh barrier has completed the phase of parity 1; then phase after phase by one thread, with
// `count` arrivals each.
struct OwnPhases {
  using Params = conformance::Params;
  static constexpr unsigned threads = 32;
  static constexpr unsigned rounds = 8;
  static TW_DEVICE void run(const Params& params) {
    const SharedAddress barrier = barrier_at(0, params.count, threads);
    if (isa::thread_index() != 0) return;
    put_output(params, 0, isa::mbarrier_try_wait_parity(barrier, 1) ? 1 : 0);
    for (unsigned round = 0; round < rounds; ++round) {
      for (unsigned arrival = 0; arrival + 1 < params.count; ++arrival) {
        isa::mbarrier_arrive(barrier);
      }
      // Incomplete: the phase before is still the one that has completed.
      const bool before = isa::mbarrier_try_wait_parity(barrier, (round + 1) % 2);
      isa::mbarrier_arrive(barrier);
      wait(barrier, round % 2);
      put_output(params, round + 1, (before ? 100 : 0) + round);
    }
  }
};

// Two warps hand a buffer back and forth: full and empty barriers, every lane arrives.
struct HandOver {
  using Params = conformance::Params;
  static constexpr unsigned half = 32;
  static constexpr unsigned threads = 2 * half;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    const SharedAddress full = barrier_at(256, half, threads);
    const SharedAddress empty = barrier_at(264, half, threads);
    for (unsigned round = 0; round < params.count; ++round) {
      if (thread < half) {
        wait(empty, (round + 1) % 2);
        put_shared(thread, get_input(params, round * half + thread));
        isa::mbarrier_arrive(full);
      } else {
        wait(full, round % 2);
        put_output(params, round * half + thread - half, get_shared(threads - 1 - thread));
        isa::mbarrier_arrive(empty);
      }
    }
  }
};

enum class Bytes {
  Expected,       // arrive.expect_tx before the copy
  ExpectedLater,  // the copy first
  Split,          // two arrivals expect the bytes of a copy each
  WithArrivals,   // arrivals without bytes, too
  Twice,          // one arrival expects the bytes of two copies
  NoBytes,        // arrive.expect_tx of nothing
};

// Copies of 512 bytes that one barrier counts, twice, so that a byte left over would be seen.
template <Bytes order>
struct CountBytes {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static constexpr unsigned copy_bytes = 512;
  static constexpr unsigned copies = order == Bytes::Split || order == Bytes::Twice ? 2 : 1;
  static constexpr unsigned arrivals = order == Bytes::WithArrivals ? 33
                                       : order == Bytes::Split      ? 2
                                                                    : 1;
  static TW_DEVICE void load(const Params& params, SharedAddress barrier, unsigned index) {
    const int at[1] = {static_cast<int>(index * copy_bytes / 4)};
    isa::cp_async_bulk_tensor_load(shared_at(index % copies * 1024), &params.map, barrier, at,
                                   isa::CacheHint::EvictFirst);
  }
  static TW_DEVICE void issue(const Params& params, SharedAddress barrier, unsigned phase) {
    const unsigned first = phase * copies;
    if constexpr (order == Bytes::ExpectedLater) load(params, barrier, first);
    if constexpr (order == Bytes::NoBytes) {
      isa::mbarrier_arrive_expect_tx(barrier, 0);
    } else if constexpr (order == Bytes::Split) {
      isa::mbarrier_arrive_expect_tx(barrier, copy_bytes);
      load(params, barrier, first);
      isa::mbarrier_arrive_expect_tx(barrier, copy_bytes);
      load(params, barrier, first + 1);
    } else {
      isa::mbarrier_arrive_expect_tx(barrier, copies * copy_bytes);
      if constexpr (order != Bytes::ExpectedLater) load(params, barrier, first);
      if constexpr (order == Bytes::Twice) load(params, barrier, first + 1);
    }
  }
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    const SharedAddress barrier = barrier_at(2048, arrivals, threads);
    for (unsigned phase = 0; phase < 2; ++phase) {
      if (thread == 0) issue(params, barrier, phase);
      if (order == Bytes::WithArrivals && thread >= 32) isa::mbarrier_arrive(barrier);
      wait(barrier, phase);
      for (unsigned copy = 0; copy < copies && order != Bytes::NoBytes; ++copy) {
        dump_shared(params, threads, (phase * copies + copy) * copy_bytes / 4, copy * 256,
                    copy_bytes / 4);
      }
      isa::barrier_sync(0, threads);
    }
    if (order == Bytes::NoBytes) put_output(params, thread, thread);
  }
};

template <Bytes order>
Program count_bytes(const char* name) {
  using Kernel = CountBytes<order>;
  Program program;
  program.name = std::string("mbarrier_bytes_") + name;
  program.body = body_of<Kernel>();
  program.grid = {1, 1, Kernel::threads, 2048 + 16};
  program.input = {{Fill::Bits, 2 * Kernel::copies * Kernel::copy_bytes, 5}};
  program.output_bytes =
      order == Bytes::NoBytes ? Kernel::threads * 4 : 2 * Kernel::copies * Kernel::copy_bytes;
  program.tensor.rank = 1;
  program.tensor.extents[0] = 2 * Kernel::copies * Kernel::copy_bytes / 4;
  program.tensor.box[0] = Kernel::copy_bytes / 4;
  return program;
}

inline std::vector<Program> list_phases() {
  std::vector<Program> programs;
  for (unsigned arrivals : {1u, 2u, 7u}) {
    Program program;
    program.name = "mbarrier_phases_arrivals_" + std::to_string(arrivals);
    program.body = body_of<OwnPhases>();
    program.grid = {1, 1, OwnPhases::threads, 16};
    program.output_bytes = (1 + OwnPhases::rounds) * 4;
    program.params.count = arrivals;
    programs.push_back(program);
  }
  Program hand_over;
  hand_over.name = "mbarrier_hand_over";
  hand_over.body = body_of<HandOver>();
  hand_over.grid = {1, 1, HandOver::threads, 272};
  hand_over.input = {{Fill::Bits, 7 * 128, 6}};
  hand_over.output_bytes = 7 * 128;
  hand_over.params.count = 7;
  programs.push_back(hand_over);
  programs.push_back(count_bytes<Bytes::Expected>("expected"));
  programs.push_back(count_bytes<Bytes::ExpectedLater>("expected_later"));
  programs.push_back(count_bytes<Bytes::Split>("split"));
  programs.push_back(count_bytes<Bytes::WithArrivals>("with_arrivals"));
  programs.push_back(count_bytes<Bytes::Twice>("twice"));
  programs.push_back(count_bytes<Bytes::NoBytes>("none"));
  return programs;
}

}  // namespace tw::conformance
