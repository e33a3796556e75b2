// Stores into and loads from the other CTAs of a cluster, and stores that signal when they land.
#pragma once

#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/cluster_memory.h"

namespace tw::conformance {

TW_DEVICE void meet_cluster() {
  isa::cluster_arrive_release();
  isa::cluster_wait();
}

// Every CTA sends a word and a vector to every CTA, its own included, into a slot per sender.
struct StoreToAll {
  using Params = conformance::Params;
  static constexpr unsigned threads = 32;
  static constexpr unsigned slot_bytes = threads * 20;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index(), rank = isa::cluster_rank();
    const unsigned size = params.count;
    meet_cluster();  // a CTA's memory is there once it has begun
    for (unsigned target = 0; target < size; ++target) {
      const unsigned value = (rank * size + target) * 1000 + thread;
      const std::uint32_t words[4] = {value, value ^ 0xffff, value << 16, ~value};
      isa::store_cluster(isa::mapa(shared_at(rank * slot_bytes + 4 * thread), target), value);
      isa::store_cluster(isa::mapa(shared_at(rank * slot_bytes + 128 + 16 * thread), target),
                         words);
    }
    meet_cluster();
    const unsigned words = size * slot_bytes / 4;
    dump_shared(params, threads, isa::cta_index() * words, 0, words);
  }
};

// Every CTA reads the next one's memory.
struct LoadFromNext {
  using Params = conformance::Params;
  static constexpr unsigned threads = 32;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index(), rank = isa::cluster_rank();
    fill_shared(threads, 0, threads * 5,
                [&](unsigned word) { return pattern(isa::cta_index() * 1000 + word); });
    meet_cluster();
    const unsigned next = (rank + 1) % params.count;
    std::uint32_t words[4];
    isa::load_cluster(words, isa::mapa(shared_at(16 * (threads - 1 - thread)), next));
    const unsigned first = (isa::cta_index() * threads + thread) * 5;
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) put_output(params, first + i, words[i]);
    put_output(params, first + 4, isa::load_cluster(isa::mapa(shared_at(512 + 4 * thread), next)));
    meet_cluster();  // nobody leaves while it is read
  }
};

// Asynchronous stores to the next CTA, round by round; its barrier counts the bytes.
struct StoreAsync {
  using Params = conformance::Params;
  static constexpr unsigned threads = 32;
  static constexpr unsigned rounds = 4;
  static constexpr unsigned barrier_offset = 1024;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index(), rank = isa::cluster_rank();
    const unsigned next = (rank + 1) % params.count;
    const SharedAddress barrier = shared_at(barrier_offset);
    if (thread == 0) {
      isa::mbarrier_init(barrier, 1);
      isa::fence_mbarrier_init();
    }
    meet_cluster();
    const SharedAddress signal = isa::mapa(barrier, next);
    for (unsigned round = 0; round < rounds; ++round) {
      if (thread == 0) isa::mbarrier_arrive_expect_tx(barrier, threads * 20);
      const unsigned value = (isa::cta_index() * rounds + round) * 1000 + thread;
      const std::uint32_t words[4] = {value, value * 3, value * 5, value * 7};
      isa::st_async(isa::mapa(shared_at(4 * thread), next), value, signal);
      isa::st_async(isa::mapa(shared_at(128 + 16 * thread), next), words, signal);
      wait(barrier, round % 2);
      dump_shared(params, threads, (isa::cta_index() * rounds + round) * 160, 0, 160);
      meet_cluster();  // all have read
    }
  }
};

// Plain stores to the next CTA, published by an arrival at its barrier.
struct ReleaseToNext {
  using Params = conformance::Params;
  static constexpr unsigned threads = 32;
  static constexpr unsigned rounds = 4;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    const unsigned next = (isa::cluster_rank() + 1) % params.count;
    const SharedAddress barrier = shared_at(1024);
    if (thread == 0) {
      isa::mbarrier_init(barrier, threads);
      isa::fence_mbarrier_init();
    }
    meet_cluster();
    for (unsigned round = 0; round < rounds; ++round) {
      const unsigned value = (isa::cta_index() * rounds + round) * 1000 + thread;
      isa::store_cluster(isa::mapa(shared_at(4 * thread), next), value);
      isa::mbarrier_arrive_release_cluster(isa::mapa(barrier, next));
      while (!isa::mbarrier_try_wait_parity_cluster(barrier, round % 2)) {
      }
      put_output(params, (isa::cta_index() * rounds + round) * threads + thread,
                 get_shared(threads - 1 - thread));
      meet_cluster();
    }
  }
};

inline std::vector<Program> list_cluster_memory() {
  std::vector<Program> programs;
  const auto add = [&](std::string name, Body body, Grid grid, std::size_t output_bytes) {
    Program program;
    program.name = std::move(name);
    program.body = body;
    program.grid = grid;
    program.output_bytes = output_bytes;
    program.params.count = grid.cluster_size;
    programs.push_back(program);
  };
  for (unsigned size : {1u, 2u, 4u}) {
    const std::string suffix = "_cluster_" + std::to_string(size);
    const std::size_t slots = std::size_t{4} * size * StoreToAll::slot_bytes;
    add("store_to_all" + suffix, body_of<StoreToAll>(), {4, size, 32, 4 * 640}, slots);
    add("load_from_next" + suffix, body_of<LoadFromNext>(), {4, size, 32, 640}, 4 * 32 * 20);
    add("store_async" + suffix, body_of<StoreAsync>(), {4, size, 32, 1032}, 4 * 4 * 640);
    add("release_to_next" + suffix, body_of<ReleaseToNext>(), {4, size, 32, 1032}, 4 * 4 * 128);
  }
  return programs;
}

}  // namespace tw::conformance
