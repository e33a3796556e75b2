// Tensor memory by one CTA and by a pair: allocation, stores and loads, copies from shared memory.
#pragma once

#include "tests/conformance/cluster_memory.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/tcgen05_descriptor.h"

namespace tw::conformance {

// Four warps: each reaches its quarter of the lanes. The first also allocates, and its first thread
// issues products and copies.
struct TensorFrame {
  static constexpr unsigned threads = 128;
  static constexpr unsigned full_at = 0;  // full: arrives a commit, or who expects bytes, and the
                                          // bytes; publishes tensor memory, or operands; waited by
                                          // all, or by the thread that multiplies
  static constexpr unsigned done_at = 8;  // done: arrives a commit; publishes sums; waited by all
  static constexpr unsigned address_at = 16;
  static constexpr unsigned operands_at = 1024;

  static TW_DEVICE bool issues() { return isa::thread_index() == 0; }
  static TW_DEVICE bool allocates() { return isa::thread_index() < 32; }
  static TW_DEVICE TensorAddress own_lanes() { return isa::thread_index() / 32 * 32 << 16; }
  template <unsigned group>
  static TW_DEVICE void meet() {
    isa::tcgen05_fence_before_thread_sync();
    isa::barrier_sync(0, threads);
    if constexpr (group == 2) meet_cluster();
    isa::tcgen05_fence_after_thread_sync();
  }
  template <unsigned group>
  static TW_DEVICE TensorAddress start(unsigned columns) {
    if (issues()) {
      isa::mbarrier_init(shared_at(full_at), 1);
      isa::mbarrier_init(shared_at(done_at), 1);
      isa::fence_mbarrier_init();
    }
    if constexpr (group == 2) meet_cluster();  // both have begun
    if (allocates()) {
      isa::tcgen05_alloc<group>(shared_at(address_at), columns);
      isa::tcgen05_relinquish_alloc_permit<group>();
    }
    meet<group>();
    return isa::load_shared_4(shared_at(address_at));
  }
  template <unsigned group>
  static TW_DEVICE void finish(TensorAddress address, unsigned columns) {
    meet<group>();
    if (allocates()) isa::tcgen05_dealloc<group>(address, columns);
  }
  // Each thread's lane of `columns`, `width` of them at a time.
  template <unsigned width>
  static TW_DEVICE void dump(const Params& params, TensorAddress address, unsigned columns) {
    const unsigned first = (isa::cta_index() * threads + isa::thread_index()) * columns;
    for (unsigned column = 0; column < columns; column += width) {
      std::uint32_t values[width];
      isa::tcgen05_load(values, (address + column) | own_lanes());
      isa::tcgen05_wait_load();
      TW_UNROLL
      for (unsigned i = 0; i < width; ++i) put_output(params, first + column + i, values[i]);
    }
  }
};

// Every size that there is, the largest first. Where columns lie is the hardware's to say; they
// begin at lane 0.
template <unsigned group>
struct AllocateAll : TensorFrame {
  using Params = conformance::Params;
  static constexpr unsigned sizes = 5;
  static TW_DEVICE void run(const Params& params) {
    if constexpr (group == 2) meet_cluster();
    for (unsigned size = 0; size < sizes; ++size) {
      const unsigned columns = 512u >> size;
      if (allocates()) isa::tcgen05_alloc<group>(shared_at(address_at), columns);
      meet<group>();
      const TensorAddress address = isa::load_shared_4(shared_at(address_at));
      put_output(params, (isa::cta_index() * sizes + size) * threads + isa::thread_index(),
                 address & 0xffff'001f);
      meet<group>();
      if (allocates()) isa::tcgen05_dealloc<group>(address, columns);
    }
    if (allocates()) isa::tcgen05_relinquish_alloc_permit<group>();
    if constexpr (group == 2) meet_cluster();
  }
};

// 64 columns are stored by `stored` and loaded by `loaded`.
template <unsigned group, unsigned stored, unsigned loaded>
struct StoreAndLoad : TensorFrame {
  using Params = conformance::Params;
  static constexpr unsigned columns = 64;
  static TW_DEVICE void run(const Params& params) {
    const TensorAddress address = start<group>(columns);
    for (unsigned column = 0; column < columns; column += stored) {
      std::uint32_t values[stored];
      TW_UNROLL
      for (unsigned i = 0; i < stored; ++i) {
        const unsigned lane = isa::cta_index() * threads + isa::thread_index();
        values[i] = pattern(lane * columns + column + i);
      }
      isa::tcgen05_store((address + column) | own_lanes(), values);
    }
    isa::tcgen05_wait_store();
    dump<loaded>(params, address, columns);
    finish<group>(address, columns);
  }
};

// 128 rows of 32 bytes, and 32 rows of 16 bytes that every quarter of the lanes gets; of a pair in
// both CTAs, by one thread. Rows are plain, eight of them 16 bytes apart.
template <unsigned group>
struct CopyAndLoad : TensorFrame {
  using Params = conformance::Params;
  static constexpr unsigned columns = 32, row_bytes = 32;
  static constexpr unsigned words = threads * row_bytes / 4;
  static TW_DEVICE void run(const Params& params) {
    fill_shared(threads, operands_at / 4, words,
                [&](unsigned word) { return pattern(isa::cta_index() * words + word); });
    const TensorAddress address = start<group>(columns);
    if (issues() && isa::cluster_rank() % group == 0) {
      // The second 16 bytes of a row lie behind the first of all rows.
      const std::uint64_t rows = isa::tcgen05_matrix_descriptor(
          shared_at(operands_at), threads * 16, 8 * 16, isa::OperandSwizzle::None);
      isa::tcgen05_cp_128x256b<group>(address, rows);
      isa::tcgen05_cp_32x128b_warpx4<group>(address + 8, isa::tcgen05_advance(rows, 512));
      if constexpr (group == 1)
        isa::tcgen05_commit<group>(shared_at(full_at));
      else
        isa::tcgen05_commit_multicast<group>(shared_at(full_at), 0b11);
    }
    wait(shared_at(full_at), 0);
    isa::tcgen05_fence_after_thread_sync();
    dump<4>(params, address, 12);
    finish<group>(address, columns);
  }
};

inline std::vector<Program> list_tensor_memory() {
  std::vector<Program> programs;
  const auto add = [&](std::string name, Body body, unsigned group, std::size_t words) {
    Program program;
    program.name = std::move(name);
    program.body = body;
    program.grid = {group, group, TensorFrame::threads, 8192};
    program.output_bytes = group * TensorFrame::threads * words * 4;
    programs.push_back(program);
  };
  add("tensor_allocate", body_of<AllocateAll<1>>(), 1, AllocateAll<1>::sizes);
  add("tensor_allocate_pair", body_of<AllocateAll<2>>(), 2, AllocateAll<2>::sizes);
  add("tensor_store_1_load_32", body_of<StoreAndLoad<1, 1, 32>>(), 1, 64);
  add("tensor_store_32_load_8", body_of<StoreAndLoad<1, 32, 8>>(), 1, 64);
  add("tensor_store_64_load_16_pair", body_of<StoreAndLoad<2, 64, 16>>(), 2, 64);
  add("tensor_copy", body_of<CopyAndLoad<1>>(), 1, 12);
  add("tensor_copy_pair", body_of<CopyAndLoad<2>>(), 2, 12);
  return programs;
}

}  // namespace tw::conformance
