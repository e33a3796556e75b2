// cp.async: every size and number of source bytes, groups, and arrivals at mbarriers.
#pragma once

#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/cp_async.h"

namespace tw::conformance {

// Every thread copies one piece; the source gives out after thread % (bytes + 1) bytes.
template <unsigned bytes>
struct CopyPieces {
  using Params = conformance::Params;
  static constexpr unsigned threads = 128;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    fill_shared(threads, 0, threads * bytes / 4, [](unsigned word) { return pattern(word); });
    isa::barrier_sync(0, threads);
    isa::cp_async<bytes>(shared_at(thread * bytes), params.input + thread * bytes / 4,
                         thread % (bytes + 1));
    isa::cp_async_commit_group();
    isa::cp_async_wait_group<0>();
    isa::barrier_sync(0, threads);
    dump_shared(params, threads, 0, 0, threads * bytes / 4);
  }
};

// A ring of stages in one thread's hands: one group per round, of which `pending` stay in flight.
template <unsigned pending>
struct CopyGroups {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static TW_DEVICE void copy(const Params& params, unsigned round) {
    const unsigned thread = isa::thread_index();
    if (round < params.count) {
      isa::cp_async<16>(shared_at((round % (pending + 1) * threads + thread) * 16),
                        params.input + (round * threads + thread) * 4, 16);
    }
    isa::cp_async_commit_group();
  }
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    for (unsigned round = 0; round != pending; ++round) copy(params, round);
    for (unsigned round = 0; round < params.count; ++round) {
      copy(params, round + pending);
      isa::cp_async_wait_group<pending>();
      isa::barrier_sync(0, threads);
      const unsigned mirrored = round % (pending + 1) * threads + threads - 1 - thread;
      for (unsigned word = 0; word < 4; ++word) {
        put_output(params, (round * threads + thread) * 4 + word, get_shared(mirrored * 4 + word));
      }
      isa::barrier_sync(0, threads);
    }
  }
};

// The first warp copies and lets its copies arrive; the second waits, and hands the buffer back.
struct CopyArrivals {
  using Params = conformance::Params;
  static constexpr unsigned half = 32;
  static constexpr unsigned threads = 2 * half;
  static constexpr unsigned full_offset = 1024, empty_offset = 1032;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    const SharedAddress full = shared_at(full_offset), empty = shared_at(empty_offset);
    if (thread == 0) {
      isa::mbarrier_init(full, half);
      isa::mbarrier_init(empty, half);
      isa::fence_mbarrier_init();
    }
    isa::barrier_sync(0, threads);
    for (unsigned round = 0; round < params.count; ++round) {
      if (thread < half) {
        wait(empty, (round + 1) % 2);
        for (unsigned part = 0; part < 2; ++part) {
          const unsigned piece = part * half + thread;
          isa::cp_async<16>(shared_at(piece * 16), params.input + (round * threads + piece) * 4,
                            16 - 4 * (round % 4));
        }
        isa::cp_async_mbarrier_arrive_noinc(full);
      } else {
        wait(full, round % 2);
        for (unsigned word = 0; word < 8; ++word) {
          const unsigned at = word * half + threads - 1 - thread;
          put_output(params, round * 256 + at, get_shared(at));
        }
        isa::mbarrier_arrive(empty);
      }
    }
  }
};

inline std::vector<Program> list_async_copies() {
  std::vector<Program> programs;
  const auto add = [&](std::string name, Body body, Grid grid, std::size_t bytes, unsigned count) {
    Program program;
    program.name = std::move(name);
    program.body = body;
    program.grid = grid;
    program.input = {{Fill::Bits, bytes, 21}};
    program.output_bytes = bytes;
    program.params.count = count;
    programs.push_back(program);
  };
  add("cp_async_4", body_of<CopyPieces<4>>(), {1, 1, 128, 512}, 512, 0);
  add("cp_async_8", body_of<CopyPieces<8>>(), {1, 1, 128, 1024}, 1024, 0);
  add("cp_async_16", body_of<CopyPieces<16>>(), {1, 1, 128, 2048}, 2048, 0);
  add("cp_async_groups_0", body_of<CopyGroups<0>>(), {1, 1, 64, 1024}, 7 * 1024, 7);
  add("cp_async_groups_1", body_of<CopyGroups<1>>(), {1, 1, 64, 2048}, 7 * 1024, 7);
  add("cp_async_groups_3", body_of<CopyGroups<3>>(), {1, 1, 64, 4096}, 7 * 1024, 7);
  add("cp_async_arrivals", body_of<CopyArrivals>(), {1, 1, 64, 1040}, 9 * 1024, 9);
  return programs;
}

}  // namespace tw::conformance
