// What waves of CDNA have on their way: loads to LDS by vmcnt, reads of LDS by lgkmcnt, and what a
// wait that is missing is found by.
#include "tilewright/isa/amdgcn/wave_memory.h"

#include <cstring>
#include <numeric>

#include "tests/vgpu/support.h"
#include "tilewright/isa/amdgcn/mfma.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/isa/threads.h"

namespace tw::test {
namespace {

constexpr unsigned wave = 64;

struct WaveMemoryTest : ::testing::TestWithParam<Landing> {
  std::vector<std::uint8_t> source;
  Kernel kernel;

  WaveMemoryTest() : source(8192) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      source[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
    }
    kernel = {.threads = 2 * wave,
              .memory = {range_of(source, "source", true, false)},
              .options = {.landing = GetParam()},
              .lanes = wave};
  }
  BufferResource all() const { return {source.data(), 8192}; }
  static unsigned lane() { return isa::thread_index() % wave; }
  static unsigned wave_index() { return isa::thread_index() / wave; }
  // 1024 bytes of the source by one wave, to LDS at `to`.
  void load(unsigned to, unsigned from) const {
    isa::buffer_load_lds<16>(address_at(to), all(), from + 16 * lane());
  }
  std::uint32_t word(unsigned at) const {
    std::uint32_t value;
    std::memcpy(&value, &source[at], 4);
    return value;
  }
};

TEST_P(WaveMemoryTest, LanesWriteOneBehindTheOther) {
  EXPECT_TRUE(clean(kernel.run([&] {
    const unsigned first = 1024 * wave_index();
    // From wherever a lane likes, to where its number says.
    isa::buffer_load_lds<16>(address_at(first), all(), 4 + 16 * (lane() ^ 5));
    isa::buffer_load_lds<4>(address_at(4096 + first), all(), 4 * (63 - lane()));
    isa::s_waitcnt<0, isa::any_lgkmcnt>();
    EXPECT_EQ(load_shared(shared_at(first + 16 * lane())), word(4 + 16 * (lane() ^ 5)));
    EXPECT_EQ(load_shared(shared_at(4096 + first + 4 * lane())), word(4 * (63 - lane())));
  })));
}

TEST_P(WaveMemoryTest, WordsOutOfRangeAreZeros) {
  for (const std::uint32_t bytes : {0u, 3u, 4u, 24u, 512u, 1020u}) {
    EXPECT_TRUE(clean(kernel.run([&] {
      const unsigned first = 1024 * wave_index();
      isa::buffer_load_lds<16>(address_at(first), {source.data(), bytes}, 16 * lane());
      isa::buffer_load_lds<16>(address_at(2048 + first), all(), 0x80000000u + 16 * lane());
      isa::s_waitcnt<0, isa::any_lgkmcnt>();
      for (unsigned i = 0; i < 16; i += 4) {
        const unsigned at = 16 * lane() + i;
        EXPECT_EQ(load_shared(shared_at(first + at)), at + 4 <= bytes ? word(at) : 0) << bytes;
        EXPECT_EQ(load_shared(shared_at(2048 + first + at)), 0);
      }
    })));
  }
}

TEST_P(WaveMemoryTest, AReadWithoutVmcntIsFoundWhateverTheLuck) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("load");
      load(1024 * wave_index(), 0);
      if (!planted) isa::s_waitcnt<0, isa::any_lgkmcnt>();
      if (planted) stand_back();
      load_shared(shared_at(1024 * wave_index() + 16 * lane()));
      if (planted) isa::s_waitcnt<0, isa::any_lgkmcnt>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ReadBeforeFull, "s_waitcnt vmcnt is missing"));
  }
}

TEST_P(WaveMemoryTest, VmcntWaitsForAllButTheLatest) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      const unsigned first = 4096 * wave_index();
      for (unsigned i = 0; i < 4; ++i) load(first + 1024 * i, 1024 * i);
      isa::s_waitcnt<2, isa::any_lgkmcnt>();
      for (unsigned i = 0; i < (planted ? 3u : 2u); ++i) {
        const auto seen = load_shared(shared_at(first + 1024 * i + 16 * lane()));
        EXPECT_TRUE(i == 2 || seen == word(1024 * i + 16 * lane()));
      }
      isa::s_waitcnt<0, isa::any_lgkmcnt>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ReadBeforeFull, "s_waitcnt vmcnt is missing"));
  }
}

// The bug that AMD's own sanitizer is said to miss: the barrier hands on what is not waited for.
TEST_P(WaveMemoryTest, AWaitBehindTheBarrierIsNoWait) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      const unsigned own = 1024 * wave_index(), other = 1024 - own;
      load(own, own);
      if (!planted) isa::s_waitcnt<0, isa::any_lgkmcnt>();
      isa::s_barrier();
      if (planted) isa::s_waitcnt<0, isa::any_lgkmcnt>();
      const auto seen = load_shared(shared_at(other + 16 * lane()));
      EXPECT_TRUE(planted || seen == word(other + 16 * lane()));
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ReadBeforeFull,
                         "s_waitcnt vmcnt is missing, or not before the barrier"));
  }
}

TEST_P(WaveMemoryTest, OverwritingWhatAReadInFlightReadsIsFound) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      load(1024 * wave_index(), 1024 * wave_index());
      isa::s_waitcnt<0, isa::any_lgkmcnt>();
      isa::s_barrier();
      // Each wave reads what the other loaded, and loads anew what the other reads.
      std::uint32_t words[4];
      isa::ds_read_b128(words, address_at(1024 * (1 - wave_index()) + 16 * lane()));
      if (!planted) isa::s_waitcnt<isa::any_vmcnt, 0>();
      isa::s_barrier();
      load(1024 * wave_index(), 2048);
      isa::s_waitcnt<0, 0>();
      EXPECT_TRUE(planted || words[0] == word(1024 * (1 - wave_index()) + 16 * lane()));
    });
    EXPECT_TRUE(found_if(planted, report, Checker::OverwriteWhileRead,
                         "s_waitcnt lgkmcnt is missing, or not before the barrier"));
  }
}

// What the compiler stores by itself is on its way as well, and s_barrier does not wait for it.
TEST_P(WaveMemoryTest, StoresThatABarrierHandsOnAreWaitedFor) {
  enum class Wait { All, Some, Behind, Fences };
  for (const Wait wait : {Wait::All, Wait::Some, Wait::Behind, Wait::Fences}) {
    const bool planted = wait == Wait::Some || wait == Wait::Behind;
    const Report report = kernel.run([&] {
      isa::describe_role("load");
      const unsigned own = 1024 * wave_index() + 4 * lane(), other = 1024 - 1024 * wave_index();
      isa::store_shared_4(address_at(own), own);
      if (wait == Wait::All) isa::s_waitcnt<isa::any_vmcnt, 0>();
      if (wait == Wait::Some) isa::s_waitcnt<0, 1>();
      if (wait == Wait::Fences) isa::barrier_sync(0, 128);
      isa::s_barrier();
      if (wait == Wait::Behind) isa::s_waitcnt<isa::any_vmcnt, 0>();
      EXPECT_EQ(load_shared(shared_at(other + 4 * lane())), other + 4 * lane());
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Race, "no s_waitcnt lgkmcnt(0) is between"));
  }
}

TEST_P(WaveMemoryTest, RegistersAreFilledByTheWait) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("multiply");
      load(1024 * wave_index(), 0);
      isa::s_waitcnt<0, isa::any_lgkmcnt>();
      std::uint32_t a[2][4];
      isa::ds_read_b128(a[0], address_at(1024 * wave_index() + 16 * lane()));
      isa::ds_read_b128(a[1], address_at(1024 * wave_index() + 16 * (lane() ^ 1)));
      if (planted) isa::s_waitcnt<isa::any_vmcnt, 1>();
      if (!planted) isa::s_waitcnt<isa::any_vmcnt, 0>();
      EXPECT_EQ(a[0][1], word(16 * lane() + 4));
      EXPECT_EQ(a[1][1] == word(16 * (lane() ^ 1) + 4), !planted);
      float sums[4] = {};
      isa::mfma<MfmaShape{MfmaType::Bf16, MfmaType::Bf16, 16, 32}>(sums, a[0], a[1]);
      isa::s_waitcnt<0, 0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::OperandInFlight,
                         "mfma takes registers that ds_read_b128 has not filled"));
  }
}

// Lane l of 16 gets element l of each of four lines.
TEST_P(WaveMemoryTest, TransposedReads) {
  EXPECT_TRUE(clean(kernel.run([&] {
    load(1024 * wave_index(), 0);
    isa::s_waitcnt<0, isa::any_lgkmcnt>();
    isa::warp_sync();
    // Four lines of 16 elements lie 128 bytes apart; each 16 lanes have other ones.
    const unsigned group = lane() / 16, line = lane() / 4 % 4, piece = lane() % 4;
    std::uint32_t words[2];
    isa::ds_read_b64_tr_b16(words,
                            address_at(1024 * wave_index() + 32 * group + 128 * line + 8 * piece));
    isa::s_waitcnt<isa::any_vmcnt, 0>();
    std::uint16_t halves[4];
    std::memcpy(halves, words, sizeof(words));
    for (unsigned i = 0; i < 4; ++i) {
      std::uint16_t expected;
      std::memcpy(&expected, &source[32 * group + 128 * i + 2 * (lane() % 16)], 2);
      EXPECT_EQ(halves[i], expected);
    }
  })));
}

TEST_P(WaveMemoryTest, WhatNobodyWaitedForIsFoundAtExit) {
  EXPECT_TRUE(found(kernel.run([&] { load(1024 * wave_index(), 0); }), Checker::InFlightAtExit,
                    "no s_waitcnt vmcnt(0) follows"));
  EXPECT_TRUE(found(kernel.run([&] {
    load(1024 * wave_index(), 0);
    isa::s_waitcnt<0, 0>();
    std::uint32_t words[4];
    isa::ds_read_b128(words, address_at(1024 * wave_index() + 16 * lane()));
  }),
                    Checker::InFlightAtExit, "no s_waitcnt lgkmcnt(0) follows"));
}

TEST_P(WaveMemoryTest, AWaveActsAsOne) {
  const auto load_to = [&](unsigned to, const BufferResource& resource) {
    isa::buffer_load_lds<16>(address_at(to), resource, 16 * lane());
    isa::s_waitcnt<0, 0>();
  };
  EXPECT_TRUE(found(kernel.run([&] { load_to(lane() == 7 ? 1024 : 0, all()); }),
                    Checker::Divergence, "M0 of buffer_load lds"));
  EXPECT_TRUE(found(kernel.run([&] {
    load_to(0, {source.data(), lane() == 7 ? 64u : 128u});
  }),
                    Checker::Divergence, "another resource"));
  EXPECT_TRUE(found(kernel.run([&] { load_to(8, all()); }), Checker::Alignment, "no multiple"));
  EXPECT_TRUE(found(kernel.run([&] {
    if (lane() == 3) isa::s_waitcnt<0, 0>();
    if (lane() != 3) isa::s_waitcnt<1, 0>();
  }),
                    Checker::Divergence, "s_waitcnt"));
  kernel.lanes = 32;
  EXPECT_TRUE(found(kernel.run([&] { load_to(0, all()); }), Checker::Divergence, "it takes 64"));
}

// A wave that comes once too often, or too seldom, to the barrier leaves the others there.
TEST_P(WaveMemoryTest, ABarrierTooFewIsADeadlock) {
  EXPECT_TRUE(found(kernel.run([&] {
    if (wave_index() == 0) isa::s_barrier();
  }),
                    Checker::Deadlock, "named barrier 0"));
}

INSTANTIATE_TEST_SUITE_P(, WaveMemoryTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

}  // namespace
}  // namespace tw::test
