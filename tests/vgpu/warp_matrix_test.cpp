// ldmatrix and mma.sync as a kernel uses them: from shared memory, by a whole warp.
#include "tilewright/isa/ptx/warp_matrix.h"

#include "tests/vgpu/support.h"
#include "tilewright/isa/ptx/convert.h"
#include "tilewright/isa/ptx/cp_async.h"

namespace tw::test {
namespace {

struct WarpMatrixTest : ::testing::TestWithParam<Landing> {
  Kernel kernel{.threads = 32, .options = {.landing = GetParam()}};
};

// Small integers, different everywhere in a tile.
int a_value(unsigned m, unsigned k) { return static_cast<int>((m * 5 + k * 3) % 11) - 5; }
int b_value(unsigned k, unsigned n) { return static_cast<int>((k * 7 + n * 2) % 9) - 4; }

template <MmaType type>
auto element(int value) {
  if constexpr (type == MmaType::Bf16) return Bf16(static_cast<float>(value));
  if constexpr (type == MmaType::F16) return Fp16(static_cast<float>(value));
  if constexpr (type == MmaType::Tf32) return static_cast<float>(value);
  if constexpr (type == MmaType::S8) return static_cast<std::int8_t>(value);
}

// The row of matrix lane / 8 in a tile of 32-byte rows; `rows_first` says whether the next matrix
// is the next eight rows or the next 16 bytes.
SharedAddress row_address(unsigned offset, bool rows_first) {
  const unsigned lane = isa::thread_index() % 32, matrix = lane / 8;
  const unsigned row = lane % 8 + 8 * (rows_first ? matrix % 2 : matrix / 2);
  const unsigned chunk = rows_first ? matrix / 2 : matrix % 2;
  return address_at(offset + 32 * row + 16 * chunk);
}

// A of 16 rows and B of 16 columns, both of 32 bytes of k: two products of 16 x 8 x k.
template <MmaType type>
void multiply_tile() {
  constexpr unsigned k_end = isa::mma_k(type);
  using Element = decltype(element<type>(0));
  const unsigned lane = isa::thread_index();
  for (unsigned at = lane; at < 16 * k_end; at += 32) {
    const unsigned row = at / k_end, k = at % k_end;
    store_shared(shared_at<Element>(0) + at, element<type>(a_value(row, k)));
    store_shared(shared_at<Element>(512) + at, element<type>(b_value(k, row)));
  }
  isa::warp_sync();
  std::uint32_t a[4], b[4];
  isa::ldmatrix_x4(a, row_address(0, true));
  isa::ldmatrix_x4(b, row_address(512, false));
  for (unsigned tile = 0; tile < 2; ++tile) {
    isa::MmaSum<type> d[4];
    for (unsigned i = 0; i < 4; ++i) d[i] = static_cast<isa::MmaSum<type>>(1000 * i + lane);
    const std::uint32_t half[2] = {b[2 * tile], b[2 * tile + 1]};
    isa::mma_sync<type>(d, a, half);
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned m = lane / 4 + 8 * (i / 2), n = 8 * tile + 2 * (lane % 4) + i % 2;
      int expected = static_cast<int>(1000 * i + lane);
      for (unsigned k = 0; k < k_end; ++k) expected += a_value(m, k) * b_value(k, n);
      EXPECT_EQ(d[i], static_cast<isa::MmaSum<type>>(expected)) << "m " << m << ", n " << n;
    }
  }
}

TEST_P(WarpMatrixTest, MultipliesTilesOfEveryType) {
  EXPECT_TRUE(clean(kernel.run(multiply_tile<MmaType::Bf16>)));
  EXPECT_TRUE(clean(kernel.run(multiply_tile<MmaType::F16>)));
  EXPECT_TRUE(clean(kernel.run(multiply_tile<MmaType::Tf32>)));
  EXPECT_TRUE(clean(kernel.run(multiply_tile<MmaType::S8>)));
}

// B by rows of n: the transposed load gives what mma.sync takes.
TEST_P(WarpMatrixTest, LoadsTransposed) {
  EXPECT_TRUE(clean(kernel.run([&] {
    const unsigned lane = isa::thread_index();
    for (unsigned at = lane; at < 256; at += 32) {
      store_shared(shared_at<std::uint16_t>(0) + at, static_cast<std::uint16_t>(at));
    }
    isa::warp_sync();
    std::uint32_t b[4];
    isa::ldmatrix_x4_transposed(b, row_address(0, true));  // 16 k by 16 n
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned k = 8 * (i % 2) + 2 * (lane % 4), n = 8 * (i / 2) + lane / 4;
      EXPECT_EQ(b[i], (16 * k + n) | (16 * (k + 1) + n) << 16);
    }
  })));
}

TEST_P(WarpMatrixTest, CopiesMustHaveBeenWaitedFor) {
  std::vector<std::uint8_t> source(512, 1);
  kernel.memory = {range_of(source, "source")};
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("multiply");
      isa::describe_shared(address_at(0), 512, "input", 1);
      const unsigned lane = isa::thread_index();
      isa::cp_async<16>(address_at(16 * lane), &source[16 * lane], 16);
      isa::cp_async_commit_group();
      isa::cp_async_wait_group<0>();
      if (!planted) isa::warp_sync();
      std::uint32_t a[4];
      isa::ldmatrix_x4(a, row_address(0, true));
      if (!planted) {
        EXPECT_EQ(a[3], 0x01010101u);
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ReadBeforeFull, "ldmatrix reads input stage 1"));
  }
}

TEST_P(WarpMatrixTest, ReadsCountUntilTheyAreReleased) {
  kernel.threads = 64;
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      const unsigned lane = isa::thread_index() % 32;
      if (isa::thread_index() < 32) {
        for (unsigned i = 0; i < 4; ++i) store_shared(shared_at(16 * lane + 4 * i), lane);
      }
      isa::barrier_sync(0, 64);
      std::uint32_t a[4];
      if (isa::thread_index() >= 32) isa::ldmatrix_x4(a, address_at(16 * lane));
      if (!planted) isa::barrier_sync(0, 64);
      if (isa::thread_index() < 32) {
        if (planted) stand_back();
        store_shared(shared_at(16 * lane), 0u);
      }
    });
    EXPECT_EQ(report.verdict(), planted ? Report::Found : Report::Clean) << text_of(report);
  }
}

TEST_P(WarpMatrixTest, TheWrongKTileIsFound) {
  std::vector<std::uint8_t> source(512, 1);
  kernel.memory = {range_of(source, "source")};
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      const unsigned lane = isa::thread_index();
      isa::describe_step(7);
      isa::cp_async<16>(address_at(16 * lane), &source[16 * lane], 16);
      isa::cp_async_commit_group();
      isa::cp_async_wait_group<0>();
      isa::warp_sync();
      isa::describe_step(planted ? 8 : 7);
      std::uint32_t a[4];
      isa::ldmatrix_x4(a, row_address(0, true));
    });
    EXPECT_TRUE(found_if(planted, report, Checker::WrongStep, "expecting k-tile 8, but k-tile 7"));
  }
}

TEST_P(WarpMatrixTest, RowsAreAlignedAndInside) {
  const auto load = [&](unsigned offset) {
    return kernel.run([offset] {
      for (unsigned i = 0; i < 8; ++i) store_shared(shared_at(4 * i), i);
      std::uint32_t a[4];
      isa::ldmatrix_x4(a, address_at(offset));
    });
  };
  kernel.shared_bytes = 512;
  EXPECT_TRUE(found(load(8), Checker::Alignment, "16-byte aligned"));
  EXPECT_TRUE(found(load(512), Checker::Bounds, "ldmatrix"));
}

TEST_P(WarpMatrixTest, LanesMustAgree) {
  const Report types = kernel.run([&] {
    const std::uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};
    if (isa::thread_index() == 9) {
      isa::mma_sync<MmaType::F16>(d, a, b);
    } else {
      isa::mma_sync<MmaType::Bf16>(d, a, b);
    }
  });
  EXPECT_TRUE(found(types, Checker::Divergence, "lane 9"));
  const Report missing = kernel.run([&] {
    const std::uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};
    if (isa::thread_index() != 3) isa::mma_sync<MmaType::Bf16>(d, a, b);
  });
  EXPECT_TRUE(found(missing, Checker::Deadlock, "in mma.sync; lanes 3 have returned"));
  const Report elsewhere = kernel.run([&] {
    for (unsigned i = 0; i < 4; ++i) store_shared(shared_at(4 * i), i);
    isa::warp_sync();
    std::uint32_t a[4] = {};
    const std::uint32_t b[2] = {};
    float d[4] = {};
    if (isa::thread_index() < 16) {
      isa::ldmatrix_x4(a, address_at(0));
    } else {
      isa::mma_sync<MmaType::Bf16>(d, a, b);
    }
  });
  EXPECT_TRUE(found(elsewhere, Checker::Deadlock, "in ldmatrix; lanes 16-31 are elsewhere"));
  kernel.threads = 40;
  const Report short_warp = kernel.run([&] {
    const std::uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};
    isa::mma_sync<MmaType::Bf16>(d, a, b);
  });
  EXPECT_TRUE(found(short_warp, Checker::Divergence, "in a warp of 8 lanes; it takes 32"));
}

INSTANTIATE_TEST_SUITE_P(, WarpMatrixTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

}  // namespace
}  // namespace tw::test
