// Counters in shared and global memory. What a program gives does not depend on who comes first.
#pragma once

#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/counter.h"

namespace tw::conformance {

// Two warps hand a buffer back and forth by two counters that only grow.
struct CountedHandOver {
  using Params = conformance::Params;
  static constexpr unsigned half = 32;
  static constexpr unsigned threads = 2 * half;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    const SharedAddress full = shared_at(256), empty = shared_at(260);
    if (thread == 0) {
      isa::counter_init(full);
      isa::counter_init(empty);
    }
    isa::barrier_sync(0, threads);
    for (unsigned round = 0; round < params.count; ++round) {
      if (thread < half) {
        isa::counter_wait_at_least(empty, round * half);
        put_shared(thread, get_input(params, round * half + thread));
        isa::counter_add_release(full, 1);
      } else {
        isa::counter_wait_at_least(full, (round + 1) * half);
        put_output(params, round * half + thread - half, get_shared(threads - 1 - thread));
        isa::counter_add_release(empty, 1);
      }
    }
  }
};

// The count passes 2^32 between the two warps.
struct WrappingCount {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static constexpr unsigned step = 0x60000000;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    const SharedAddress there = shared_at(0), back = shared_at(4);
    if (thread == 0) {
      isa::counter_init(there);
      isa::counter_init(back);
    }
    isa::barrier_sync(0, threads);
    if (thread % 32 != 0) return;
    for (unsigned round = 1; round <= params.count; ++round) {
      if (thread == 0) {
        isa::counter_add_release(there, step);
        isa::counter_wait_at_least(back, round * step);
      } else {
        isa::counter_wait_at_least(there, round * step);
        put_output(params, round - 1, round);
        isa::counter_add_release(back, step);
      }
    }
  }
};

// Word 0 counts tickets; each ticket is marked once.
struct Tickets {
  using Params = conformance::Params;
  static constexpr unsigned threads = 256;
  static TW_DEVICE void run(const Params& params) {
    if (isa::thread_index() == 0) put_output(params, 0, 0);
    isa::barrier_sync(0, threads);
    for (unsigned round = 0; round < params.count; ++round) {
      const std::uint32_t ticket = isa::global_fetch_add(params.output, 1);
      put_output(params, 1 + ticket, ticket * 3);
    }
  }
};

// Warp by warp through global memory: each adds to what the one before published.
struct GlobalChain {
  using Params = conformance::Params;
  static constexpr unsigned threads = 256;
  static TW_DEVICE void run(const Params& params) {
    const unsigned warp = isa::thread_index() / 32, lane = isa::thread_index() % 32;
    std::uint32_t* flag = params.output;
    if (isa::thread_index() == 0) isa::global_store_release(flag, 0);
    isa::barrier_sync(0, threads);
    isa::global_wait_at_least(flag, 32 * warp);
    const std::uint32_t before =
        warp == 0 ? 0 : load_element<Space::Global>(params.output + 1 + 32 * (warp - 1) + lane);
    put_output(params, 1 + 32 * warp + lane, before + get_input(params, 32 * warp + lane));
    isa::global_add_release(flag, 1);
  }
};

// The largest of all magnitudes.
struct LargestMagnitude {
  using Params = conformance::Params;
  static constexpr unsigned threads = 256;
  static TW_DEVICE void run(const Params& params) {
    if (isa::thread_index() == 0) put_output(params, 0, 0);
    isa::barrier_sync(0, threads);
    for (unsigned word = isa::thread_index(); word < params.count; word += threads) {
      isa::global_atomic_max_float_bits(params.output, get_input(params, word) & 0x7fffffff);
    }
  }
};

inline std::vector<Program> list_counters() {
  std::vector<Program> programs;
  const auto add = [&](std::string name, Body body, Grid grid, Segment input,
                       std::size_t output_bytes, unsigned count) {
    Program program;
    program.name = std::move(name);
    program.body = body;
    program.grid = grid;
    if (input.bytes != 0) program.input = {input};
    program.output_bytes = output_bytes;
    program.params.count = count;
    programs.push_back(program);
  };
  add("counter_hand_over", body_of<CountedHandOver>(), {1, 1, 64, 264}, {Fill::Bits, 6 * 128, 51},
      6 * 128, 6);
  add("counter_wraps", body_of<WrappingCount>(), {1, 1, 64, 8}, {Fill::Bits, 0, 0}, 12 * 4, 12);
  add("global_tickets", body_of<Tickets>(), {1, 1, 256, 0}, {Fill::Bits, 0, 0}, 4 + 3 * 1024, 3);
  add("global_chain", body_of<GlobalChain>(), {1, 1, 256, 0}, {Fill::Bits, 1024, 52}, 4 + 1024, 0);
  add("global_max", body_of<LargestMagnitude>(), {1, 1, 256, 0}, {Fill::FloatNormals, 4096, 53}, 4,
      1024);
  return programs;
}

}  // namespace tw::conformance
