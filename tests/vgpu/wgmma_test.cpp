// wgmma: issue by 128 threads, groups, accumulators in flight.
#include <bit>

#include "tests/vgpu/support.h"
#include "vgpu/data/matrix_descriptor.h"

namespace tw::test {
namespace {

constexpr unsigned a_at = 0, b_at = 4096;

// K-major without swizzle: 8 x 16-byte core matrices, the two of a row 128 bytes apart.
std::uint64_t descriptor(unsigned offset) {
  vgpu::MatrixDescriptor fields;
  fields.start = address_at(offset);
  fields.leading_bytes = 128;
  fields.stride_bytes = 256;
  return vgpu::encode_matrix_descriptor(fields);
}
unsigned element_at(unsigned row, unsigned k) {
  return row / 8 * 256 + k / 8 * 128 + row % 8 * 16 + k % 8 * 2;
}
std::uint16_t bf16_of(float value) { return std::bit_cast<std::uint32_t>(value) >> 16; }

// A is 64 x 16 with a(m, k) = m % 4, B is 8 x 16 with b(n, k) = n: d(m, n) = 16 (m % 4) n.
void fill_operands(bool fence = true) {
  for (unsigned i = isa::thread_index(); i < 64 * 16; i += 128) {
    store_shared(shared_at<std::uint16_t>(a_at + element_at(i / 16, i % 16)), bf16_of(i / 16 % 4));
    if (i < 8 * 16) {
      store_shared(shared_at<std::uint16_t>(b_at + element_at(i / 16, i % 16)), bf16_of(i / 16));
    }
  }
  if (fence) isa::fence_proxy_async();
  isa::barrier_sync(1, 128);
}
float expected(unsigned value) {
  const unsigned thread = isa::thread_index() % 128;
  const unsigned m = 16 * (thread / 32) + thread % 32 / 4 + 8 * (value / 2 % 2);
  const unsigned n = 2 * (thread % 4) + value % 2;
  return static_cast<float>(16 * (m % 4) * n);
}
void multiply(float (&sum)[4], bool accumulate) {
  isa::wgmma<WgmmaShape{.n = 8}>(sum, descriptor(a_at), descriptor(b_at), accumulate);
}

struct WgmmaTest : ::testing::TestWithParam<Landing> {
  Kernel kernel{.options = {.landing = GetParam()}};
};

TEST_P(WgmmaTest, AddsUpOverGroupsInFlight) {
  EXPECT_TRUE(clean(kernel.run([] {
    fill_operands();
    float sum[4];
    isa::wgmma_fence();
    for (unsigned group = 0; group < 3; ++group) {
      multiply(sum, group > 0);
      multiply(sum, true);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<1>();
    }
    isa::wgmma_wait_group<0>();
    isa::fragment_access(sum, 4);
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(sum[i], 6 * expected(i));
  })));
}

// The registers of A for d = expected().
void fill_registers(std::uint32_t (&a)[4]) {
  const unsigned thread = isa::thread_index();
  isa::fragment_access(a, 4);
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned m = 16 * (thread / 32) + thread % 32 / 4 + 8 * (i % 2);
    a[i] = bf16_of(m % 4) * 0x10001u;
  }
}

TEST_P(WgmmaTest, TakesAFromRegisters) {
  EXPECT_TRUE(clean(kernel.run([] {
    fill_operands();
    std::uint32_t a[4];
    float sum[4];
    for (unsigned round = 0; round < 2; ++round) {
      fill_registers(a);
      isa::wgmma_fence();
      isa::wgmma_register<ElementType::Bf16, 8>(sum, a, descriptor(b_at), false);
      isa::wgmma_register<ElementType::Bf16, 8>(sum, a, descriptor(b_at), true);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<0>();
      for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(sum[i], 2 * expected(i));
    }
  })));
}

// N-major: a line of 128 bytes for each k, of which 8 columns are read; chunks of 16 bytes are
// swizzled by the line's number.
TEST_P(WgmmaTest, TakesAFromRegistersAndATransposedB) {
  EXPECT_TRUE(clean(kernel.run([] {
    for (unsigned i = isa::thread_index(); i < 16 * 8; i += 128) {
      const unsigned k = i / 8, n = i % 8;
      store_shared(shared_at<std::uint16_t>(b_at + k * 128 + k % 8 * 16 + n * 2), bf16_of(n));
    }
    isa::fence_proxy_async();
    isa::barrier_sync(1, 128);
    vgpu::MatrixDescriptor fields;
    fields.start = address_at(b_at);
    fields.leading_bytes = 2048;
    fields.stride_bytes = 1024;
    fields.swizzle = vgpu::MapSwizzle::Bytes128;
    std::uint32_t a[4];
    fill_registers(a);
    float sum[4];
    isa::wgmma_fence();
    isa::wgmma_register<ElementType::Bf16, 8, 1>(sum, a, vgpu::encode_matrix_descriptor(fields),
                                                 false);
    isa::wgmma_commit_group();
    isa::wgmma_wait_group<0>();
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(sum[i], expected(i));
  })));
}

TEST_P(WgmmaTest, RegistersOfAAreGuardedUntilTheWait) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("multiply");
      fill_operands();
      std::uint32_t a[4];
      fill_registers(a);
      float sum[4];
      isa::wgmma_fence();
      isa::wgmma_register<ElementType::Bf16, 8>(sum, a, descriptor(b_at), false);
      isa::wgmma_commit_group();
      if (!planted) isa::wgmma_wait_group<0>();
      fill_registers(a);
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::OperandInFlight, "touches registers of A"));
  }
}

// Nobody says that the registers are touched; at the wait they hold something else.
TEST_P(WgmmaTest, OverwrittenRegistersOfAAreFoundAtTheWait) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      fill_operands();
      std::uint32_t first[4], second[4];
      fill_registers(first);
      fill_registers(second);
      float sum[4];
      isa::wgmma_fence();
      isa::wgmma_register<ElementType::Bf16, 8>(sum, first, descriptor(b_at), false);
      isa::wgmma_commit_group();
      isa::wgmma_register<ElementType::Bf16, 8>(sum, second, descriptor(b_at), true);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<1>();
      (planted ? second : first)[3] = 0;
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::OperandInFlight, "has overwritten"));
  }
}

TEST_P(WgmmaTest, FenceMustFollowTouchingTheRegistersOfA) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      fill_operands();
      std::uint32_t a[4];
      float sum[4];
      isa::wgmma_fence();
      fill_registers(a);
      if (!planted) isa::wgmma_fence();
      isa::wgmma_register<ElementType::Bf16, 8>(sum, a, descriptor(b_at), false);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::MissingWgmmaFence, "touched before"));
  }
}

TEST_P(WgmmaTest, RegistersArePoisonedAndGuardedUntilTheWait) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("multiply");
      fill_operands();
      float sum[4] = {};
      isa::wgmma_fence();
      multiply(sum, false);
      isa::wgmma_commit_group();
      if (!planted) isa::wgmma_wait_group<0>();
      isa::fragment_access(sum, 4);
      EXPECT_EQ(sum[0] != sum[0], planted);  // NaN
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::AccumulatorInFlight, "multiply role"));
  }
}

TEST_P(WgmmaTest, WaitThatLeavesTheGroupPendingIsNoWait) {
  const Report report = kernel.run([&] {
    fill_operands();
    float sum[4];
    isa::wgmma_fence();
    multiply(sum, false);
    isa::wgmma_commit_group();
    isa::wgmma_wait_group<1>();
    isa::fragment_access(sum, 4);
    isa::wgmma_wait_group<0>();
  });
  EXPECT_TRUE(found(report, Checker::AccumulatorInFlight, "leaves too many groups pending"));
}

TEST_P(WgmmaTest, FenceMustFollowTouchingTheRegisters) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      fill_operands();
      float sum[4];
      isa::wgmma_fence();
      for (unsigned round = 0; round < 2; ++round) {
        if (round == 1 && !planted) isa::wgmma_fence();
        multiply(sum, round > 0);
        isa::wgmma_commit_group();
        isa::wgmma_wait_group<0>();
        isa::fragment_access(sum, 4);
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::MissingWgmmaFence, "touched before"));
  }
}

TEST_P(WgmmaTest, FirstProductMustNotAccumulate) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      fill_operands();
      float sum[4];
      isa::wgmma_fence();
      multiply(sum, planted);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Uninitialised, "hold nothing yet"));
  }
}

TEST_P(WgmmaTest, OperandsWrittenByThreadsNeedFenceAndBarrier) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("multiply");
      fill_operands(!planted);
      float sum[4];
      isa::wgmma_fence();
      multiply(sum, false);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::MissingProxyFence, "wgmma reads"));
  }
}

TEST_P(WgmmaTest, OperandsMustOutliveTheProduct) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("multiply");
      isa::describe_shared(address_at(a_at), 2048, "a", 0);
      fill_operands();
      float sum[4];
      isa::wgmma_fence();
      multiply(sum, false);
      isa::wgmma_commit_group();
      if (!planted) isa::wgmma_wait_group<0>();
      isa::barrier_sync(1, 128);
      if (isa::thread_index() == 9) store_shared(shared_at<std::uint16_t>(a_at), bf16_of(9));
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(
        found_if(planted, report, Checker::OverwriteWhileRead, "wgmma of the multiply role"));
  }
}

TEST_P(WgmmaTest, WaitCoversOnlyTheGroupsItDoesNotLeavePending) {
  for (const unsigned group : {0u, 1u}) {
    const Report report = kernel.run([&] {
      fill_operands();
      for (unsigned i = isa::thread_index(); i < 512; i += 128) {
        store_shared(shared_at(2048 + 4 * i), 0u);
      }
      isa::fence_proxy_async();
      isa::barrier_sync(1, 128);
      float sum[4];
      isa::wgmma_fence();
      for (const unsigned a : {a_at, 2048u}) {
        isa::wgmma<WgmmaShape{.n = 8}>(sum, descriptor(a), descriptor(b_at), a != a_at);
        isa::wgmma_commit_group();
      }
      isa::wgmma_wait_group<1>();
      isa::barrier_sync(1, 128);
      if (isa::thread_index() == 9) store_shared(shared_at(2048 * group), 0u);
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(found_if(group == 1, report, Checker::OverwriteWhileRead));
  }
}

TEST_P(WgmmaTest, EveryThreadMustKnowThatTheOperandsAreThere) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("multiply");
      start_barrier(8192, 1, 128);
      if (isa::thread_index() == 0) {
        for (unsigned i = 0; i < 2048 / 4; ++i) store_shared(shared_at(a_at + 4 * i), 0u);
        for (unsigned i = 0; i < 256 / 4; ++i) store_shared(shared_at(b_at + 4 * i), 0u);
        isa::fence_proxy_async();
        isa::mbarrier_arrive(address_at(8192));
      }
      if (!planted || isa::thread_index() != 77) wait(address_at(8192), 0);
      float sum[4];
      isa::wgmma_fence();
      multiply(sum, false);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Race, "wgmma reads"));
  }
}

TEST_P(WgmmaTest, UnwrittenOperandsAreFound) {
  const Report report = kernel.run([&] {
    float sum[4];
    isa::wgmma_fence();
    multiply(sum, false);
    isa::wgmma_commit_group();
    isa::wgmma_wait_group<0>();
  });
  EXPECT_TRUE(found(report, Checker::Uninitialised, "wgmma reads"));
}

TEST_P(WgmmaTest, ThreadsMustAgree) {
  const auto run = [&](auto change) {
    return kernel.run([&] {
      fill_operands();
      float sum[4];
      isa::wgmma_fence();
      change(sum, isa::thread_index() == 77);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<0>();
    });
  };
  EXPECT_TRUE(clean(run([](float(&sum)[4], bool) { multiply(sum, false); })));
  EXPECT_TRUE(found(run([](float(&sum)[4], bool odd) {
                      isa::wgmma<WgmmaShape{.n = 8}>(sum, descriptor(odd ? 2048 : a_at),
                                                     descriptor(b_at), false);
                    }),
                    Checker::Divergence, "another thread issued it with"));
  EXPECT_TRUE(found(run([](float(&sum)[4], bool odd) {
                      multiply(sum, false);
                      if (odd) isa::wgmma_commit_group();
                      multiply(sum, true);
                    }),
                    Checker::Divergence, "group"));
}

TEST_P(WgmmaTest, RegistersOfOneShapeAtATime) {
  const Report report = kernel.run([&] {
    fill_operands();
    float sum[8];
    isa::wgmma_fence();
    multiply(reinterpret_cast<float(&)[4]>(sum), false);
    isa::wgmma<WgmmaShape{.n = 8}>(reinterpret_cast<float(&)[4]>(sum[2]), descriptor(a_at),
                                   descriptor(b_at), false);
    isa::wgmma_commit_group();
    isa::wgmma_wait_group<0>();
  });
  EXPECT_TRUE(found(report, Checker::AccumulatorInFlight, "same shape"));
}

TEST_P(WgmmaTest, MissingThreadsDeadlockWithTheirCount) {
  const Report report = kernel.run([&] {
    isa::describe_role("multiply");
    fill_operands();
    if (isa::thread_index() >= 96) return;
    float sum[4];
    isa::wgmma_fence();
    multiply(sum, false);
    isa::wgmma_commit_group();
    isa::wgmma_wait_group<0>();
  });
  EXPECT_TRUE(found(report, Checker::Deadlock, "which 96 of 128 threads have issued"));
}

TEST_P(WgmmaTest, ProductsNobodyWaitedForAreFoundAtExit) {
  const Report report = kernel.run([&] {
    isa::describe_role("multiply");
    fill_operands();
    float sum[4];
    isa::wgmma_fence();
    multiply(sum, false);
    isa::wgmma_commit_group();
  });
  EXPECT_TRUE(found(report, Checker::InFlightAtExit, "1 wgmmas in flight"));
}

INSTANTIATE_TEST_SUITE_P(, WgmmaTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

TEST(Wgmma, WhatTheModelLacksIsIncompleteNotClean) {
  const Report report = Kernel{}.run([] {
    fill_operands();
    float sum[4];
    isa::wgmma_fence();
    constexpr std::uint64_t base_offset_one = std::uint64_t{1} << 49;
    isa::wgmma<WgmmaShape{.n = 8}>(sum, descriptor(a_at) | base_offset_one, descriptor(b_at),
                                   false);
  });
  EXPECT_EQ(report.verdict(), Report::Incomplete) << text_of(report);
  EXPECT_NE(text_of(report).find("base offset 1"), std::string::npos) << text_of(report);
}

TEST(Wgmma, NeedsAWholeWarpgroupAndDescriptorsInside) {
  EXPECT_TRUE(found(Kernel{.threads = 96}.run([] {
    float sum[4];
    isa::wgmma_fence();
    multiply(sum, false);
  }),
                    Checker::Divergence, "warpgroup of 96 threads"));
  EXPECT_TRUE(found(Kernel{.shared_bytes = 4096 + 128}.run([] {
    float sum[4];
    isa::wgmma_fence();
    multiply(sum, false);
  }),
                    Checker::Bounds, "wgmma"));
}

}  // namespace
}  // namespace tw::test
