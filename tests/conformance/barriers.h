// Named barriers, and arrivals across a cluster.
#pragma once

#include "tests/conformance/device.h"

namespace tw::conformance {

// Pairs of warps, each with a barrier of its own, swap values through shared memory.
struct NamedSync {
  using Params = conformance::Params;
  static constexpr unsigned threads = 256;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    put_shared(thread, get_input(params, thread));
    isa::barrier_sync(1 + thread / 64, 64);
    put_output(params, thread, get_shared(thread ^ 63));
  }
};

// All sixteen barriers in turn.
struct EveryNamedBarrier {
  using Params = conformance::Params;
  static constexpr unsigned threads = 96;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    for (unsigned id = 0; id < 16; ++id) {
      put_shared(id * threads + thread, id * 1000 + thread);
      isa::barrier_sync(id, threads);
      put_output(params, id * threads + thread, get_shared(id * threads + threads - 1 - thread));
    }
  }
};

// The first half produces, the second consumes: each arrives at one barrier and waits at the other.
struct NamedHandshake {
  using Params = conformance::Params;
  static constexpr unsigned half = 64;
  static constexpr unsigned threads = 2 * half;
  static constexpr unsigned full = 3, empty = 4;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    for (unsigned round = 0; round < params.count; ++round) {
      if (thread < half) {
        if (round > 0) isa::barrier_sync(empty, threads);
        put_shared(thread, get_input(params, round * half + thread));
        isa::barrier_arrive(full, threads);
      } else {
        isa::barrier_sync(full, threads);
        put_output(params, round * half + thread - half, get_shared(threads - 1 - thread));
        if (round + 1 < params.count) isa::barrier_arrive(empty, threads);
      }
    }
  }
};

// The cluster barrier alone, again and again.
struct ClusterBarrier {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static TW_DEVICE void run(const Params& params) {
    const unsigned first = (isa::cta_index() * threads + isa::thread_index()) * params.count;
    for (unsigned round = 0; round < params.count; ++round) {
      isa::cluster_arrive();
      put_output(params, first + round, round);
      isa::cluster_wait();
    }
  }
};

// One thread initialises the barrier at `offset`; the whole cluster may use it afterwards.
TW_DEVICE SharedAddress cluster_barrier_at(unsigned offset, unsigned arrivals) {
  if (isa::thread_index() == 0) {
    isa::mbarrier_init(shared_at(offset), arrivals);
    isa::fence_mbarrier_init();
  }
  isa::cluster_arrive();
  isa::cluster_wait();
  return shared_at(offset);
}

// In every round each CTA arrives once at the barrier of every CTA, its own included.
struct RemoteArrive {
  using Params = conformance::Params;
  static constexpr unsigned threads = 32;
  static constexpr unsigned rounds = 5;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    const unsigned size = params.count;
    const SharedAddress barrier = cluster_barrier_at(0, size);
    for (unsigned round = 0; round < rounds; ++round) {
      if (thread < size) isa::mbarrier_arrive_cluster(isa::mapa(barrier, thread));
      wait(barrier, round % 2);
      put_output(params, (isa::cta_index() * rounds + round) * threads + thread, round + 1);
      isa::cluster_arrive();
      isa::cluster_wait();
    }
  }
};

// All arrivals of a CTA's phase come from one peer.
struct NeighbourArrive {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static constexpr unsigned rounds = 4;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    const unsigned size = params.count;
    const SharedAddress barrier = cluster_barrier_at(8, threads);
    for (unsigned round = 0; round < rounds; ++round) {
      isa::mbarrier_arrive_cluster(isa::mapa(barrier, (isa::cluster_rank() + 1) % size));
      wait(barrier, round % 2);
      put_output(params, (isa::cta_index() * rounds + round) * threads + thread, thread);
      isa::cluster_arrive();
      isa::cluster_wait();
    }
  }
};

inline std::vector<Program> list_barriers() {
  std::vector<Program> programs;
  const auto add = [&](std::string name, Body body, Grid grid, std::size_t input_bytes,
                       std::size_t output_bytes, unsigned count) {
    Program program;
    program.name = std::move(name);
    program.body = body;
    program.grid = grid;
    program.input = {{Fill::Bits, input_bytes, 4}};
    program.output_bytes = output_bytes;
    program.params.count = count;
    programs.push_back(program);
  };
  add("named_sync", body_of<NamedSync>(), {1, 1, 256, 1024}, 1024, 1024, 0);
  add("named_every_id", body_of<EveryNamedBarrier>(), {1, 1, 96, 16 * 96 * 4}, 0, 16 * 96 * 4, 0);
  add("named_handshake", body_of<NamedHandshake>(), {1, 1, 128, 256}, 6 * 256, 6 * 256, 6);
  for (unsigned size : {1u, 2u, 4u}) {
    const std::string suffix = "_cluster_" + std::to_string(size);
    add("barrier" + suffix, body_of<ClusterBarrier>(), {4, size, 64, 0}, 0, 4 * 64 * 12, 3);
    add("remote_arrive" + suffix, body_of<RemoteArrive>(), {4, size, 32, 16}, 0, 4 * 5 * 128, size);
    add("neighbour_arrive" + suffix, body_of<NeighbourArrive>(), {4, size, 64, 16}, 0, 4 * 4 * 256,
        size);
  }
  return programs;
}

}  // namespace tw::conformance
