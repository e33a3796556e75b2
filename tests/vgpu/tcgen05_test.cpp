// tcgen05 by one CTA: allocation, products, loads and stores, the fences between them.
#include "tilewright/isa/ptx/tcgen05.h"

#include <bit>

#include "tests/vgpu/support.h"
#include "tilewright/isa/ptx/tcgen05_descriptor.h"

namespace tw::test {
namespace {

constexpr unsigned threads = 160;  // warps 0 to 3 read the accumulators, warp 4 multiplies
constexpr unsigned a_at = 0, b_at = 16 << 10, barrier_at = 32 << 10, address_slot = barrier_at + 64;
constexpr unsigned empty_at = barrier_at + 8, copied_at = barrier_at + 16;

std::uint16_t bf16_of(float value) { return std::bit_cast<std::uint32_t>(value) >> 16; }

// K-major with a swizzle of 128 bytes: 64 elements a row.
unsigned element_at(unsigned row, unsigned k) {
  return row * 128 + ((k / 8) ^ (row % 8)) * 16 + k % 8 * 2;
}
std::uint64_t operand(unsigned at, unsigned k = 0) {
  return isa::tcgen05_k_major_descriptor(address_at(at + 2 * k), isa::OperandSwizzle::Bytes128);
}
constexpr std::uint32_t instruction(unsigned m, unsigned n) {
  return isa::tcgen05_instruction_descriptor(
      {.m = m, .n = n, .a = isa::mma_format::bf16, .b = isa::mma_format::bf16});
}

// a(m, k) = m % 8 + k % 3 and b(n, k) = n % 5: sums of small integers are exact.
float a_value(unsigned m, unsigned k) { return static_cast<float>(m % 8 + k % 3); }
float b_value(unsigned n) { return static_cast<float>(n % 5); }
float expected(unsigned m, unsigned n, unsigned k_begin, unsigned k_end) {
  float sum = 0;
  for (unsigned k = k_begin; k < k_end; ++k) sum += a_value(m, k) * b_value(n);
  return sum;
}

void fill_operands(unsigned rows = 128, unsigned columns = 32, bool fence = true) {
  for (unsigned i = isa::thread_index(); i < rows * 64; i += threads) {
    store_shared(shared_at<std::uint16_t>(a_at + element_at(i / 64, i % 64)),
                 bf16_of(a_value(i / 64, i % 64)));
  }
  for (unsigned i = isa::thread_index(); i < columns * 64; i += threads) {
    store_shared(shared_at<std::uint16_t>(b_at + element_at(i / 64, i % 64)),
                 bf16_of(b_value(i / 64)));
  }
  if (fence) isa::fence_proxy_async();
}

bool is_multiplier() { return isa::thread_index() >= 128; }
bool is_issuer() { return isa::thread_index() == 128; }
unsigned own_lanes() { return isa::thread_index() / 32 * 32 << 16; }

TensorAddress start(unsigned columns, bool fence = true) {
  isa::describe_role(is_multiplier() ? "multiply" : "epilogue");
  fill_operands(128, 32, fence);
  if (isa::thread_index() == 0) {
    isa::mbarrier_init(address_at(barrier_at), 1);
    isa::mbarrier_init(address_at(empty_at), 128);
    isa::mbarrier_init(address_at(copied_at), 1);
    isa::fence_mbarrier_init();
  }
  if (is_multiplier()) isa::tcgen05_alloc<1>(address_at(address_slot), columns);
  isa::barrier_sync(0, threads);
  return load_shared(shared_at<TensorAddress>(address_slot));
}
void finish(TensorAddress address, unsigned columns) {
  isa::barrier_sync(0, threads);
  if (!is_multiplier()) return;
  isa::tcgen05_relinquish_alloc_permit<1>();
  isa::tcgen05_dealloc<1>(address, columns);
}
void multiply(TensorAddress d, unsigned m, unsigned n, unsigned steps, bool accumulate) {
  for (unsigned step = 0; step < steps; ++step) {
    isa::tcgen05_mma<MmaKind::F16, 1>(d, operand(a_at, 16 * step), operand(b_at, 16 * step),
                                      instruction(m, n), accumulate || step > 0);
  }
}
void wait_full(unsigned parity = 0) {
  wait(address_at(barrier_at), parity);
  isa::tcgen05_fence_after_thread_sync();
}
template <unsigned count>
void read(std::uint32_t (&values)[count], TensorAddress address) {
  isa::tcgen05_load(values, address | own_lanes());
  isa::tcgen05_wait_load();
}

struct Tcgen05Test : ::testing::TestWithParam<std::tuple<Landing, unsigned>> {
  Kernel kernel{.threads = threads,
                .options = {.landing = std::get<0>(GetParam()), .seed = std::get<1>(GetParam())}};
};

TEST_P(Tcgen05Test, MultipliesAndReadsBack) {
  EXPECT_TRUE(clean(kernel.run([] {
    const TensorAddress d = start(32);
    if (is_issuer()) {
      multiply(d, 128, 32, 4, false);
      isa::tcgen05_commit<1>(address_at(barrier_at));
    }
    if (!is_multiplier()) {
      wait_full();
      std::uint32_t values[32];
      read(values, d);
      for (unsigned n = 0; n < 32; ++n) {
        EXPECT_EQ(std::bit_cast<float>(values[n]), expected(isa::thread_index(), n, 0, 64));
      }
    }
    finish(d, 32);
  })));
}

TEST_P(Tcgen05Test, SixtyFourRowsLieInHalfOfEachQuarter) {
  EXPECT_TRUE(clean(kernel.run([] {
    const TensorAddress d = start(32);
    if (is_issuer()) {
      multiply(d, 64, 16, 1, false);
      multiply(d | 16 << 16, 64, 16, 2, false);  // the other half, the same columns
      isa::tcgen05_commit<1>(address_at(barrier_at));
    }
    if (!is_multiplier()) {
      wait_full();
      std::uint32_t values[16];
      read(values, d);
      const unsigned lane = isa::thread_index() % 32;
      const unsigned m = isa::thread_index() / 32 * 16 + lane % 16;
      for (unsigned n = 0; n < 16; ++n) {
        EXPECT_EQ(std::bit_cast<float>(values[n]), expected(m, n, 0, lane < 16 ? 16 : 32));
      }
    }
    finish(d, 32);
  })));
}

// One accumulator: the epilogue hands it back, and the multiplier overwrites it.
void ring(unsigned planted = 0) {
  const TensorAddress base = start(32);
  constexpr unsigned tiles = 5;
  if (is_issuer()) {
    for (unsigned tile = 0; tile < tiles; ++tile) {
      if (tile >= 1) {
        wait(address_at(empty_at), (tile - 1) % 2);
        if (planted != 1) isa::tcgen05_fence_after_thread_sync();
      }
      multiply(base, 128, 32, 1 + tile % 4, false);
      isa::tcgen05_commit<1>(address_at(barrier_at));
    }
  }
  if (!is_multiplier()) {
    for (unsigned tile = 0; tile < tiles; ++tile) {
      wait(address_at(barrier_at), tile % 2);
      if (planted != 2) isa::tcgen05_fence_after_thread_sync();
      std::uint32_t values[32];
      isa::tcgen05_load(values, base | own_lanes());
      if (planted != 3) isa::tcgen05_wait_load();
      for (unsigned n = 0; n < 32 && planted == 0; ++n) {
        EXPECT_EQ(std::bit_cast<float>(values[n]),
                  expected(isa::thread_index(), n, 0, 16 * (1 + tile % 4)));
      }
      if (planted != 4) isa::tcgen05_fence_before_thread_sync();
      if (tile + 1 < tiles) isa::mbarrier_arrive(address_at(empty_at));
      if (planted == 3) isa::tcgen05_wait_load();
    }
  }
  finish(base, 32);
}

TEST_P(Tcgen05Test, AccumulatorsGoBackAndForth) {
  EXPECT_TRUE(clean(kernel.run([] { ring(); })));
}

TEST_P(Tcgen05Test, EachFenceOfTheHandOverIsNeeded) {
  EXPECT_TRUE(found(kernel.run([] { ring(1); }), Checker::MissingTensorFence,
                    "tcgen05.mma writes column 0 of the tensor memory of CTA 0, after tcgen05.ld"));
  EXPECT_TRUE(found(kernel.run([] { ring(2); }), Checker::MissingTensorFence,
                    "after_thread_sync is missing"));
  EXPECT_TRUE(found(kernel.run([] { ring(4); }), Checker::MissingTensorFence,
                    "before_thread_sync is missing"));
}

TEST_P(Tcgen05Test, OverwritingNeedsTheWaitForLoads) {
  EXPECT_TRUE(found(kernel.run([] { ring(3); }), Checker::OverwriteWhileRead,
                    "tcgen05.wait::ld is missing"));
}

TEST_P(Tcgen05Test, RegistersOfALoadArePoisonedUntilTheWait) {
  EXPECT_TRUE(clean(kernel.run([] {
    const TensorAddress d = start(32);
    if (is_issuer()) {
      multiply(d, 128, 32, 1, false);
      isa::tcgen05_commit<1>(address_at(barrier_at));
    }
    if (!is_multiplier()) {
      wait_full();
      std::uint32_t values[4];
      isa::tcgen05_load(values, d | own_lanes());
      EXPECT_EQ(values[3], 0xFFFFFFFFu);
      isa::tcgen05_wait_load();
      EXPECT_NE(values[3], 0xFFFFFFFFu);
    }
    finish(d, 32);
  })));
}

TEST_P(Tcgen05Test, ReadingBeforeTheProductLandedIsFound) {
  const Report report = kernel.run([] {
    const TensorAddress d = start(32);
    if (is_issuer()) {
      multiply(d, 128, 32, 1, false);
      isa::tcgen05_commit<1>(address_at(barrier_at));
    }
    isa::barrier_sync(0, threads);
    if (!is_multiplier()) {
      std::uint32_t values[4];
      read(values, d);
      wait_full();
    }
    finish(d, 32);
  });
  EXPECT_TRUE(found(report, Checker::ReadBeforeFull, "tcgen05.mma of the multiply role"));
}

TEST_P(Tcgen05Test, StoresAreReadBackAndAddedTo) {
  EXPECT_TRUE(clean(kernel.run([] {
    const TensorAddress d = start(32);
    if (!is_multiplier()) {
      std::uint32_t values[32];
      for (unsigned n = 0; n < 32; ++n) {
        values[n] = std::bit_cast<std::uint32_t>(static_cast<float>(n));
      }
      isa::tcgen05_store(d | own_lanes(), values);
      isa::tcgen05_wait_store();
      std::uint32_t back[32];
      read(back, d);
      EXPECT_EQ(back[7], values[7]);
      isa::tcgen05_fence_before_thread_sync();
      isa::mbarrier_arrive(address_at(empty_at));
      wait_full();
      read(back, d);
      EXPECT_EQ(std::bit_cast<float>(back[9]), 9 + expected(isa::thread_index(), 9, 0, 16));
    }
    if (is_issuer()) {
      wait(address_at(empty_at), 0);
      isa::tcgen05_fence_after_thread_sync();
      multiply(d, 128, 32, 1, true);
      isa::tcgen05_commit<1>(address_at(barrier_at));
    }
    finish(d, 32);
  })));
}

TEST_P(Tcgen05Test, AStoreMustBeWaitedFor) {
  const Report report = kernel.run([] {
    const TensorAddress d = start(32);
    if (!is_multiplier()) {
      std::uint32_t values[1] = {7};
      isa::tcgen05_store(d | own_lanes(), values);
      read(values, d);
      isa::tcgen05_wait_store();
    }
    finish(d, 32);
  });
  EXPECT_TRUE(found(report, Checker::ReadBeforeFull, "tcgen05.wait::st is missing"));
}

TEST_P(Tcgen05Test, FirstProductMustNotAccumulate) {
  const Report report = kernel.run([] {
    const TensorAddress d = start(32);
    if (is_issuer()) {
      multiply(d, 128, 32, 1, true);
      isa::tcgen05_commit<1>(address_at(barrier_at));
    }
    wait_full();
    finish(d, 32);
  });
  EXPECT_TRUE(found(report, Checker::Uninitialised, "must not accumulate"));
}

TEST_P(Tcgen05Test, OperandsNeedTheProxyFenceAndMustOutliveTheProduct) {
  for (const unsigned planted : {0u, 1u, 2u}) {
    const Report report = kernel.run([&] {
      const TensorAddress d = start(32, planted != 1);
      if (is_issuer()) {
        multiply(d, 128, 32, 1, false);
        isa::tcgen05_commit<1>(address_at(barrier_at));
      }
      if (planted != 2) wait_full();
      isa::barrier_sync(0, threads);
      if (isa::thread_index() == 5) store_shared(shared_at<std::uint16_t>(a_at), bf16_of(1));
      wait_full();
      finish(d, 32);
    });
    EXPECT_TRUE(planted == 0   ? clean(report)
                : planted == 1 ? found(report, Checker::MissingProxyFence, "tcgen05.mma reads")
                               : found(report, Checker::OverwriteWhileRead, "tcgen05 products"));
  }
}

TEST_P(Tcgen05Test, ProductsOfAnotherShapeAreNotOrdered) {
  const Report report = kernel.run([] {
    const TensorAddress d = start(32);
    if (is_issuer()) {
      multiply(d, 128, 32, 1, false);
      multiply(d, 128, 16, 1, false);
      isa::tcgen05_commit<1>(address_at(barrier_at));
    }
    wait_full();
    finish(d, 32);
  });
  EXPECT_TRUE(found(report, Checker::Race, "nothing orders it after tcgen05.mma"));
}

TEST_P(Tcgen05Test, CopiesFillTensorMemory) {
  EXPECT_TRUE(clean(kernel.run([] {
    const TensorAddress d = start(32);
    if (is_issuer()) {
      isa::tcgen05_cp_128x256b<1>(d, operand(a_at));
      isa::tcgen05_cp_32x128b_warpx4<1>(d + 8, operand(a_at, 16));
      isa::tcgen05_commit<1>(address_at(barrier_at));
    }
    if (!is_multiplier()) {
      wait_full();
      std::uint32_t whole[8], again[4];
      read(whole, d);
      read(again, d + 8);
      const auto pair = [](unsigned row, unsigned k) {
        return bf16_of(a_value(row, k)) | std::uint32_t{bf16_of(a_value(row, k + 1))} << 16;
      };
      for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(whole[i], pair(isa::thread_index(), 2 * i));
      for (unsigned i = 0; i < 4; ++i) {
        EXPECT_EQ(again[i], pair(isa::thread_index() % 32, 16 + 2 * i));
      }
    }
    finish(d, 32);
  })));
}

TEST_P(Tcgen05Test, AProductFollowsACopyOfAnotherThread) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      const TensorAddress d = start(32);
      if (isa::thread_index() == 0) {
        for (unsigned i = 0; i < 4; ++i) isa::tcgen05_cp_128x256b<1>(d + 8 * i, operand(a_at));
        if (!planted) isa::tcgen05_fence_before_thread_sync();
      }
      if (!is_multiplier()) isa::mbarrier_arrive(address_at(empty_at));
      if (is_issuer()) {
        wait(address_at(empty_at), 0);
        isa::tcgen05_fence_after_thread_sync();
        multiply(d, 128, 32, 1, false);
        isa::tcgen05_commit<1>(address_at(barrier_at));
      }
      isa::barrier_sync(0, threads);
      if (isa::thread_index() == 0) isa::tcgen05_commit<1>(address_at(copied_at));
      if (!is_multiplier()) {
        wait_full();
        wait(address_at(copied_at), 0);
        std::uint32_t values[1];
        read(values, d + 3);
        if (!planted) {
          EXPECT_EQ(std::bit_cast<float>(values[0]), expected(isa::thread_index(), 3, 0, 16));
        }
      }
      finish(d, 32);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Race, "tcgen05.cp"));
  }
}

TEST_P(Tcgen05Test, WarpsReachTheirOwnLanesOnly) {
  const Report report = kernel.run([] {
    const TensorAddress d = start(32);
    if (is_issuer()) {
      multiply(d, 128, 32, 1, false);
      isa::tcgen05_commit<1>(address_at(barrier_at));
    }
    wait_full();
    std::uint32_t values[1];
    if (!is_multiplier()) isa::tcgen05_load(values, d);
    isa::tcgen05_wait_load();
    finish(d, 32);
  });
  EXPECT_TRUE(found(report, Checker::TensorMemoryLanes, "reaches lanes"));
}

TEST_P(Tcgen05Test, EverythingMustBeFreedBeforeTheEnd) {
  const Report report = kernel.run([] { start(64); });
  EXPECT_TRUE(found(report, Checker::TensorMemoryLeak, "64 columns"));
}

TEST_P(Tcgen05Test, OnlyAllocatedColumnsMayBeTouched) {
  const Report outside = kernel.run([] {
    const TensorAddress d = start(32);
    if (is_issuer()) multiply(d + 16, 128, 32, 1, false);
    finish(d, 32);
  });
  EXPECT_TRUE(found(outside, Checker::TensorMemoryBounds, "columns 16 to 47"));
  const Report freed = kernel.run([] {
    const TensorAddress d = start(32);
    finish(d, 32);
    if (is_issuer()) multiply(d, 128, 32, 1, false);
  });
  EXPECT_TRUE(found(freed, Checker::TensorMemoryBounds, "no longer"));
}

TEST_P(Tcgen05Test, AllocationHasItsRules) {
  const auto run = [&](auto body) {
    return kernel.run([&] {
      if (is_multiplier()) body();
    });
  };
  EXPECT_TRUE(found(run([] {
                      isa::tcgen05_relinquish_alloc_permit<1>();
                      isa::tcgen05_alloc<1>(address_at(address_slot), 32);
                    }),
                    Checker::TensorMemoryLife, "relinquished"));
  EXPECT_TRUE(found(run([] { isa::tcgen05_alloc<1>(address_at(address_slot), 48); }),
                    Checker::TensorMemoryLife, "power of two"));
  EXPECT_TRUE(found(run([] {
                      isa::tcgen05_alloc<1>(address_at(address_slot), 32);
                      isa::tcgen05_alloc<1>(address_at(address_slot + 4), 64);
                    }),
                    Checker::TensorMemoryLife, "more than the 32"));
  EXPECT_TRUE(found(run([] {
                      isa::tcgen05_alloc<1>(address_at(address_slot), 64);
                      isa::tcgen05_dealloc<1>(load_shared(shared_at<TensorAddress>(address_slot)),
                                              32);
                    }),
                    Checker::TensorMemoryLife, "64 are allocated"));
  EXPECT_TRUE(found(run([] {
                      isa::tcgen05_alloc<1>(address_at(address_slot), 512);
                      isa::tcgen05_alloc<1>(address_at(address_slot + 4), 32);
                    }),
                    Checker::Deadlock, "tensor memory to become free"));
}

TEST_P(Tcgen05Test, ABlockedAllocationGoesOnWhenColumnsAreFreed) {
  EXPECT_TRUE(clean(kernel.run([] {
    const unsigned warp = isa::thread_index() / 32;
    if (warp > 1) return;
    const unsigned slot = address_slot + 4 * warp;
    isa::tcgen05_alloc<1>(address_at(slot), 512);
    isa::tcgen05_dealloc<1>(load_shared(shared_at<TensorAddress>(slot)), 512);
  })));
}

TEST_P(Tcgen05Test, ColumnsInUseMustNotBeFreed) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      const TensorAddress d = start(32);
      if (is_issuer()) {
        multiply(d, 128, 32, 1, false);
        isa::tcgen05_commit<1>(address_at(barrier_at));
      }
      if (!planted) wait_full();
      finish(d, 32);
      wait_full();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::TensorMemoryLife, "may still use them"));
  }
}

TEST_P(Tcgen05Test, ProductsNobodyWaitedForAreFoundAtExit) {
  const Report report = kernel.run([] {
    const TensorAddress d = start(32);
    if (is_issuer()) multiply(d, 128, 32, 1, false);
    finish(d, 32);
  });
  EXPECT_TRUE(found(report, Checker::InFlightAtExit, "nobody has waited"));
}

INSTANTIATE_TEST_SUITE_P(, Tcgen05Test,
                         ::testing::Combine(::testing::ValuesIn(every_landing),
                                            ::testing::Values(1u, 2u, 3u)),
                         [](const auto& info) {
                           return std::string(vgpu::name_of(std::get<0>(info.param))) +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(Tcgen05, WhatTheModelLacksIsIncompleteNotClean) {
  const Report report = Kernel{.threads = threads}.run([] {
    const TensorAddress d = start(32);
    constexpr std::uint32_t f16_accumulators = 0x08100000;
    if (is_issuer()) {
      isa::tcgen05_mma<MmaKind::F16, 1>(d, operand(a_at), operand(b_at), f16_accumulators, false);
    }
    isa::barrier_sync(0, threads);
  });
  EXPECT_EQ(report.verdict(), Report::Incomplete) << text_of(report);
}

TEST(Tcgen05, AllInstructionsNameTheSameGroup) {
  const Report report = Kernel{.threads = 32, .ctas = 2, .cluster_size = 2}.run([] {
    isa::tcgen05_alloc<2>(address_at(address_slot), 32);
    isa::tcgen05_dealloc<1>(load_shared(shared_at<TensorAddress>(address_slot)), 32);
  });
  EXPECT_TRUE(found(report, Checker::Divergence, "must agree"));
}

}  // namespace
}  // namespace tw::test
