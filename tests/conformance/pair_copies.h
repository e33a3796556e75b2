// TMA loads of a pair of CTAs: bytes that land in one CTA and are counted in the other.
#pragma once

#include "tests/conformance/boxes.h"
#include "tests/conformance/tensor_memory.h"
#include "tilewright/isa/ptx/tma_pair.h"

namespace tw::conformance {

// Every CTA loads box after box into slots of its own, or, with `multicast`, into a slot of all
// CTAs of its cluster. Bytes are counted in the CTA of even rank of each pair, its leader, or with
// `in_follower` in the other. Who counts waits; the others learn it when the cluster meets.
template <bool multicast, bool in_follower>
struct PairLoads : TensorFrame {
  using Params = conformance::Params;
  static TW_DEVICE void run(const Params& params) {
    const Copies& copies = params.copies;
    const unsigned rank = isa::cluster_rank();
    const unsigned size = params.count;
    const SharedAddress leader = isa::leader_barrier(shared_at(full_at));
    const SharedAddress barrier = in_follower ? isa::mapa(leader, rank | 1) : leader;
    const bool counts = rank % 2 == (in_follower ? 1 : 0);
    const unsigned slots = multicast ? size * copies.count : copies.count;
    const unsigned words = slots * copies.slot_bytes / 4;
    if (issues()) {
      isa::mbarrier_init(shared_at(full_at), 1);
      isa::fence_mbarrier_init();
    }
    fill_shared(threads, operands_at / 4, words, [](unsigned word) { return pattern(word); });
    isa::barrier_sync(0, threads);
    meet_cluster();
    if (issues()) {
      for (unsigned i = 0; i < copies.count; ++i) {
        const unsigned slot = multicast ? rank * copies.count + i : i;
        const int at[2] = {copies.at[i][0], copies.at[i][1] + static_cast<int>(rank)};
        const SharedAddress to = shared_at(operands_at + slot * copies.slot_bytes);
        if constexpr (multicast)
          isa::cp_async_bulk_tensor_load_pair_multicast(to, &params.map, barrier, at,
                                                        static_cast<std::uint16_t>((1 << size) - 1),
                                                        isa::CacheHint::EvictNormal);
        else
          isa::cp_async_bulk_tensor_load_pair(to, &params.map, barrier, at,
                                              isa::CacheHint::EvictNormal);
      }
      // Both CTAs of a pair arrive; bytes that land before are counted below zero.
      if (counts) {
        isa::mbarrier_arrive_expect_tx(shared_at(full_at), 2 * slots * copies.counted_bytes);
        wait(shared_at(full_at), 0);
      }
    }
    isa::barrier_sync(0, threads);
    meet_cluster();
    dump_shared(params, threads, isa::cta_index() * words, operands_at / 4, words);
    meet_cluster();
  }
};

inline std::vector<Program> list_pair_copies() {
  std::vector<Program> programs;
  const auto add = [&](std::string name, Body body, unsigned size, unsigned slots) {
    Program program;
    program.name = std::move(name);
    program.body = body;
    program.tensor = matrix(2, 128, 24, 64, 8, Swizzle::Bytes128);
    program.input = {{Fill::Bits, 128 * 24 * 2, 71}};
    Copies& copies = program.params.copies;
    copies.count = 2;
    copies.counted_bytes = 64 * 8 * 2;
    copies.slot_bytes = 1024;
    const int at[2][2] = {{0, 0}, {64, 9}};
    for (unsigned i = 0; i < 2; ++i) {
      for (unsigned d = 0; d < 2; ++d) copies.at[i][d] = at[i][d];
    }
    program.params.count = size;
    program.grid = {size, size, TensorFrame::threads, TensorFrame::operands_at + slots * 1024};
    program.output_bytes = std::size_t{size} * slots * 1024;
    programs.push_back(program);
  };
  add("pair_load", body_of<PairLoads<false, false>>(), 2, 2);
  add("pair_load_in_follower", body_of<PairLoads<false, true>>(), 2, 2);
  add("pair_load_of_two_pairs", body_of<PairLoads<false, false>>(), 4, 2);
  add("pair_load_multicast", body_of<PairLoads<true, false>>(), 2, 4);
  add("pair_load_multicast_in_follower", body_of<PairLoads<true, true>>(), 2, 4);
  add("pair_load_multicast_of_two_pairs", body_of<PairLoads<true, false>>(), 4, 8);
  return programs;
}

}  // namespace tw::conformance
