// TMA stores, also across the edges of the tensor, and the bulk groups that track them.
#pragma once

#include "tests/conformance/boxes.h"
#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/isa/ptx/tma_store.h"

namespace tw::conformance {

template <unsigned rank>
struct BoxStore {
  static TW_DEVICE void store(const Params& params, SharedAddress source, unsigned copy) {
    int at[rank];
    TW_UNROLL
    for (unsigned d = 0; d < rank; ++d) at[d] = params.copies.at[copy][d];
    isa::cp_async_bulk_tensor_store(&params.map, source, at);
  }
};

// All copies in one group, each from its own slot.
template <class Copy>
struct Store {
  using Params = conformance::Params;
  static constexpr unsigned threads = 128;
  static TW_DEVICE void run(const Params& params) {
    const Copies& copies = params.copies;
    fill_shared(threads, 0, copies.count * copies.slot_bytes / 4,
                [](unsigned word) { return pattern(word); });
    isa::barrier_sync(0, threads);
    if (isa::thread_index() != 0) return;
    for (unsigned copy = 0; copy < copies.count; ++copy) {
      Copy::store(params, shared_at(copy * copies.slot_bytes), copy);
    }
    isa::cp_async_bulk_commit_group();
    isa::cp_async_bulk_wait_group_read<0>();
  }
};

// One group per copy from `buffers` slots in turn: a slot is written again as soon as all but the
// latest groups have read theirs.
template <unsigned buffers>
struct StoreInTurn {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static TW_DEVICE void run(const Params& params) {
    const Copies& copies = params.copies;
    const unsigned words = copies.slot_bytes / 4;
    for (unsigned copy = 0; copy < copies.count; ++copy) {
      const unsigned slot = copy % buffers;
      if (isa::thread_index() == 0) isa::cp_async_bulk_wait_group_read<buffers - 1>();
      isa::barrier_sync(0, threads);
      fill_shared(threads, slot * words, words,
                  [&](unsigned word) { return pattern(copy * words + word); });
      isa::barrier_sync(0, threads);
      if (isa::thread_index() == 0) {
        BoxStore<2>::store(params, shared_at(slot * copies.slot_bytes), copy);
        isa::cp_async_bulk_commit_group();
      }
    }
    if (isa::thread_index() == 0) isa::cp_async_bulk_wait_group_read<0>();
  }
};

inline Program store_program(const NamedBox& box, const char* kind, Body body, unsigned slots) {
  Program program;
  program.name = kind + box.name;
  program.body = body;
  program.tensor = box.tensor;
  program.tensor.in_output = true;
  program.tensor.offset = 64;  // guards before and after
  program.output_bytes = tensor_bytes(box.tensor) + 128;
  program.params.copies = copies_of(box);
  program.grid.shared_bytes = slots * program.params.copies.slot_bytes;
  return program;
}

inline std::vector<Program> list_stores() {
  constexpr Body (*bodies[])() = {body_of<Store<BoxStore<1>>>, body_of<Store<BoxStore<2>>>,
                                  body_of<Store<BoxStore<3>>>, body_of<Store<BoxStore<4>>>,
                                  body_of<Store<BoxStore<5>>>};
  std::vector<Program> programs;
  for (const NamedBox& box : boxes(Direction::Store)) {
    programs.push_back(store_program(box, "store_", bodies[box.tensor.rank - 1](),
                                     static_cast<unsigned>(box.at.size())));
  }
  NamedBox turns{"", matrix(4, 30, 60, 32, 8, Swizzle::Bytes128), {}};
  for (int copy = 0; copy < 8; ++copy) turns.at.push_back({0, copy * 8});
  const Body in_turn[] = {body_of<StoreInTurn<1>>(), body_of<StoreInTurn<2>>(),
                          body_of<StoreInTurn<4>>()};
  for (unsigned log = 0; log < 3; ++log) {
    turns.name = std::to_string(1u << log);
    programs.push_back(store_program(turns, "bulk_groups_buffers_", in_turn[log], 1u << log));
    programs.back().grid.threads = 64;
  }
  return programs;
}

}  // namespace tw::conformance
