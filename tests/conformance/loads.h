// TMA loads: ranks 1 to 5, swizzles, boxes inside, across and outside of the tensor; multicast.
#pragma once

#include "tests/conformance/boxes.h"
#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/tma.h"

namespace tw::conformance {

template <unsigned rank>
struct BoxLoad {
  static TW_DEVICE void load(const Params& params, unsigned copy, SharedAddress to,
                             SharedAddress barrier) {
    int at[rank];
    TW_UNROLL
    for (unsigned d = 0; d < rank; ++d) at[d] = params.copies.at[copy][d];
    isa::cp_async_bulk_tensor_load(to, &params.map, barrier, at, isa::CacheHint::EvictNormal);
  }
  static TW_DEVICE void multicast(const Params& params, unsigned copy, SharedAddress to,
                                  SharedAddress barrier) {
    const int at[2] = {params.copies.at[copy][0], params.copies.at[copy][1]};
    isa::cp_async_bulk_tensor_load_multicast(to, &params.map, barrier, at, params.copies.mask[copy],
                                             isa::CacheHint::EvictLast);
  }
};

// One copy after the other into the same slot; what a copy leaves alone keeps its pattern.
template <class Copy>
struct Load {
  using Params = conformance::Params;
  static constexpr unsigned threads = 128;
  static TW_DEVICE void run(const Params& params) {
    const Copies& copies = params.copies;
    const unsigned words = copies.slot_bytes / 4;
    const SharedAddress barrier = shared_at(copies.slot_bytes);
    const unsigned thread = isa::thread_index();
    if (thread == 0) {
      isa::prefetch_tensormap(&params.map);
      isa::mbarrier_init(barrier, 1);
      isa::fence_mbarrier_init();
    }
    for (unsigned copy = 0; copy < copies.count; ++copy) {
      fill_shared(threads, 0, words, [](unsigned word) { return pattern(word); });
      isa::barrier_sync(0, threads);
      if (thread == 0) {
        isa::mbarrier_arrive_expect_tx(barrier, copies.counted_bytes);
        Copy::load(params, copy, shared_at(0), barrier);
      }
      wait(barrier, copy % 2);
      dump_shared(params, threads, copy * words, 0, words);
      isa::barrier_sync(0, threads);
    }
  }
};

// Every copy has its slot in all CTAs of its mask. A CTA that does not get it says so.
template <class Copy>
struct Multicast {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static TW_DEVICE void run(const Params& params) {
    const Copies& copies = params.copies;
    const unsigned rank = isa::cluster_rank();
    const unsigned thread = isa::thread_index();
    const unsigned words = copies.slot_bytes / 4;
    const SharedAddress barrier = shared_at(copies.count * copies.slot_bytes);
    if (thread == 0) {
      isa::mbarrier_init(barrier, 1);
      isa::fence_mbarrier_init();
    }
    isa::cluster_arrive();
    isa::cluster_wait();
    if (thread == 0) {
      unsigned expected = 0;
      for (unsigned copy = 0; copy < copies.count; ++copy) {
        if ((copies.mask[copy] >> rank & 1) != 0) expected += copies.counted_bytes;
      }
      isa::mbarrier_arrive_expect_tx(barrier, expected);
      for (unsigned copy = 0; copy < copies.count; ++copy) {
        if (copies.issuer[copy] != rank) continue;
        Copy::multicast(params, copy, shared_at(copy * copies.slot_bytes), barrier);
      }
    }
    wait(barrier, 0);
    const unsigned first = isa::cta_index() * copies.count * words;
    for (unsigned copy = 0; copy < copies.count; ++copy) {
      const bool receives = (copies.mask[copy] >> rank & 1) != 0;
      for (unsigned word = thread; word < words; word += threads) {
        put_output(params, first + copy * words + word,
                   receives ? get_shared(copy * words + word) : 0xdeadbeef);
      }
    }
    isa::cluster_arrive();
    isa::cluster_wait();
  }
};

inline Program load_program(const NamedBox& box) {
  constexpr Body (*bodies[])() = {body_of<Load<BoxLoad<1>>>, body_of<Load<BoxLoad<2>>>,
                                  body_of<Load<BoxLoad<3>>>, body_of<Load<BoxLoad<4>>>,
                                  body_of<Load<BoxLoad<5>>>};
  Program program;
  program.name = "load_" + box.name;
  program.body = bodies[box.tensor.rank - 1]();
  program.tensor = box.tensor;
  program.input = {{Fill::Bits, tensor_bytes(box.tensor), 7}};
  program.params.copies = copies_of(box);
  const unsigned slot_bytes = program.params.copies.slot_bytes;
  program.grid = {1, 1, 128, slot_bytes + 16};
  program.output_bytes = program.params.copies.count * slot_bytes;
  return program;
}

inline Program multicast_program(unsigned size, const char* name,
                                 const std::vector<std::pair<unsigned, unsigned>>& copies) {
  NamedBox box{"", matrix(4, 40, 24, 32, 8, Swizzle::Bytes128), {}};
  for (unsigned copy = 0; copy < copies.size(); ++copy) {
    box.at.push_back({static_cast<int>(copy % 2 * 16), static_cast<int>(copy * 5) - 3});
  }
  Program program;
  program.name = "multicast_cluster_" + std::to_string(size) + "_" + name;
  program.body = body_of<Multicast<BoxLoad<2>>>();
  program.tensor = box.tensor;
  program.input = {{Fill::Bits, tensor_bytes(box.tensor), 8}};
  Copies& made = program.params.copies = copies_of(box);
  for (unsigned copy = 0; copy < copies.size(); ++copy) {
    made.issuer[copy] = copies[copy].first;
    made.mask[copy] = static_cast<std::uint16_t>(copies[copy].second);
  }
  program.grid = {2 * size, size, 64, made.count * made.slot_bytes + 16};
  program.output_bytes = 2 * size * made.count * made.slot_bytes;
  return program;
}

// A batch of matrices whose batch pitch is 0: every matrix is the same memory.
inline Program shared_batch_program() {
  NamedBox box{"shared_batch", tensor_of(2, {72, 19, 3}, {64, 16, 1}, Swizzle::Bytes128), {}};
  box.tensor.pitch_bytes[1] = 0;
  box.at = {{0, 0, 0}, {0, 0, 2}, {8, 5, 1}, {0, 0, 3}};
  Program program = load_program(box);
  program.input = {{Fill::Bits, box.tensor.extents[1] * box.tensor.pitch_bytes[0], 8}};
  return program;
}

inline std::vector<Program> list_loads() {
  std::vector<Program> programs;
  for (const NamedBox& box : boxes(Direction::Load)) programs.push_back(load_program(box));
  programs.push_back(shared_batch_program());
  programs.push_back(multicast_program(2, "one_to_all", {{0, 3}}));
  programs.push_back(multicast_program(2, "each_to_all", {{0, 3}, {1, 3}}));
  programs.push_back(multicast_program(2, "to_the_other", {{0, 2}, {1, 1}}));
  programs.push_back(multicast_program(4, "one_to_all", {{2, 15}}));
  programs.push_back(multicast_program(4, "each_to_all", {{0, 15}, {1, 15}, {2, 15}, {3, 15}}));
  programs.push_back(multicast_program(4, "rows_and_columns", {{0, 3}, {1, 10}, {2, 12}, {3, 5}}));
  return programs;
}

}  // namespace tw::conformance
