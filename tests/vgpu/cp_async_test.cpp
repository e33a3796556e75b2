// cp.async: what lands, who may read it when, and how its arrivals count.
#include "tilewright/isa/ptx/cp_async.h"

#include <numeric>

#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

constexpr unsigned barrier = 4096;

std::vector<std::uint8_t> counted(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

struct CpAsyncTest : ::testing::TestWithParam<Landing> {
  std::vector<std::uint8_t> source = counted(2048);
  Kernel kernel{.threads = 32,
                .memory = {range_of(source, "source", true, false)},
                .options = {.landing = GetParam()}};

  // Every lane copies its 16 bytes of a line of 512.
  void copy_line(unsigned offset, unsigned line = 0) const {
    const unsigned at = 16 * isa::thread_index();
    isa::cp_async<16>(address_at(offset + at), &source[512 * line + at], 16);
  }
  std::uint8_t read_neighbour(unsigned offset) const {
    return load_shared(shared_at<std::uint8_t>(offset + 16 * (isa::thread_index() ^ 1)));
  }
};

template <unsigned bytes>
void copy_and_compare(const std::vector<std::uint8_t>& source, unsigned source_bytes) {
  const unsigned at = bytes * isa::thread_index();
  const void* from = source_bytes == 0 ? nullptr : &source[at];
  isa::cp_async<bytes>(address_at(at), from, source_bytes);
  isa::cp_async_commit_group();
  isa::cp_async_wait_group<0>();
  for (unsigned i = 0; i < bytes; ++i) {
    EXPECT_EQ(load_shared(shared_at<std::uint8_t>(at + i)), i < source_bytes ? source[at + i] : 0);
  }
}

TEST_P(CpAsyncTest, BringsBytesAndZeros) {
  for (const unsigned source_bytes : {0u, 1u, 3u, 4u, 7u, 8u, 15u, 16u}) {
    EXPECT_TRUE(clean(kernel.run([&] {
      if (source_bytes <= 4) copy_and_compare<4>(source, source_bytes);
      isa::warp_sync();
      if (source_bytes <= 8) copy_and_compare<8>(source, source_bytes);
      isa::warp_sync();
      copy_and_compare<16>(source, source_bytes);
    })));
  }
}

TEST_P(CpAsyncTest, ReadingWithoutTheWaitIsFoundWhateverTheLuck) {
  const Report report = kernel.run([&] {
    isa::describe_role("load");
    isa::describe_shared(address_at(0), 512, "input", 2);
    copy_line(0);
    const unsigned at = 16 * isa::thread_index();
    const unsigned early = load_shared(shared_at<std::uint8_t>(at));
    EXPECT_TRUE(early == source[at] || early == 0xFF) << "landed, or poison";
    EXPECT_TRUE(early == 0xFF || GetParam() != Landing::Lazy);
    isa::cp_async_commit_group();
    isa::cp_async_wait_group<0>();
  });
  const vgpu::Finding* finding = find(report, Checker::ReadBeforeFull);
  ASSERT_NE(finding, nullptr) << text_of(report);
  EXPECT_EQ(finding->role, "load");
  EXPECT_EQ(finding->stage, 2);
  EXPECT_NE(finding->text.find("cp.async copies of the load role"), std::string::npos);
}

TEST_P(CpAsyncTest, WaitGroupLeavesTheLatestInFlight) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      copy_line(0, 0);
      isa::cp_async_commit_group();
      copy_line(512, 1);
      isa::cp_async_commit_group();
      isa::cp_async_wait_group<1>();
      const unsigned at = 16 * isa::thread_index();
      EXPECT_EQ(load_shared(shared_at<std::uint8_t>(at)), source[at]);
      if (planted) load_shared(shared_at<std::uint8_t>(512 + at));
      isa::cp_async_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ReadBeforeFull));
  }
}

TEST_P(CpAsyncTest, AnUncommittedCopyIsNotWaitedFor) {
  const Report report = kernel.run([&] {
    copy_line(0);
    isa::cp_async_wait_group<0>();
    load_shared(shared_at<std::uint8_t>(16 * isa::thread_index()));
    isa::cp_async_commit_group();
    isa::cp_async_wait_group<0>();
  });
  EXPECT_TRUE(found(report, Checker::ReadBeforeFull));
}

TEST_P(CpAsyncTest, OthersNeedABarrierAfterTheWait) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      copy_line(0);
      isa::cp_async_commit_group();
      isa::cp_async_wait_group<0>();
      if (!planted) isa::warp_sync();
      if (planted) stand_back();
      const unsigned neighbour = read_neighbour(0);
      EXPECT_TRUE(planted || neighbour == source[16 * (isa::thread_index() ^ 1)]);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ReadBeforeFull));
  }
}

TEST_P(CpAsyncTest, CopiesArriveAtABarrierAndArePublishedByIt) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      start_barrier(barrier, 32, 32);
      copy_line(0);
      isa::cp_async_mbarrier_arrive_noinc(address_at(barrier));
      if (!planted) wait(address_at(barrier), 0);
      const unsigned neighbour = read_neighbour(0);
      EXPECT_TRUE(planted || neighbour == source[16 * (isa::thread_index() ^ 1)]);
      if (planted) wait(address_at(barrier), 0);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ReadBeforeFull));
  }
}

TEST_P(CpAsyncTest, AnArrivalWithoutCopiesCounts) {
  EXPECT_TRUE(clean(kernel.run([&] {
    start_barrier(barrier, 32, 32);
    isa::cp_async_mbarrier_arrive_noinc(address_at(barrier));
    wait(address_at(barrier), 0);
  })));
}

TEST_P(CpAsyncTest, CopiesAfterTheArrivalAreNotPublishedByIt) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      start_barrier(barrier, 32, 32);
      copy_line(0, 0);
      isa::cp_async_mbarrier_arrive_noinc(address_at(barrier));
      copy_line(512, 1);
      wait(address_at(barrier), 0);
      EXPECT_EQ(read_neighbour(0), source[16 * (isa::thread_index() ^ 1)]);
      if (planted) read_neighbour(512);
      isa::cp_async_commit_group();
      isa::cp_async_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::ReadBeforeFull));
  }
}

TEST_P(CpAsyncTest, TheArrivalDoesNotPublishTheThreadsOwnWrites) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      start_barrier(barrier, planted ? 32 : 64, 32);
      copy_line(0);
      store_shared(shared_at<std::uint8_t>(512 + 16 * isa::thread_index()), std::uint8_t{7});
      isa::cp_async_mbarrier_arrive_noinc(address_at(barrier));
      if (!planted) isa::mbarrier_arrive(address_at(barrier));
      wait(address_at(barrier), 0);
      EXPECT_EQ(read_neighbour(512), 7);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Race));
  }
}

TEST_P(CpAsyncTest, TheArrivalIsOneOfThoseThatTheBarrierExpects) {
  const Report report = kernel.run([&] {
    isa::describe_role("load");
    start_barrier(barrier, 33, 32);
    copy_line(0);
    isa::cp_async_mbarrier_arrive_noinc(address_at(barrier));
    wait(address_at(barrier), 0);
  });
  EXPECT_TRUE(found(report, Checker::ArrivalCount, "only 32 ever came: 32 from load"));
  EXPECT_TRUE(found(report, Checker::Deadlock));
}

TEST_P(CpAsyncTest, OverwritingWhatOthersReadIsFound) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("load");
      for (unsigned lap = 0; lap < 2; ++lap) {
        copy_line(0, lap);
        isa::cp_async_commit_group();
        isa::cp_async_wait_group<0>();
        isa::warp_sync();
        EXPECT_TRUE(planted ||
                    read_neighbour(0) == source[512 * lap + 16 * (isa::thread_index() ^ 1)]);
        if (planted) read_neighbour(0);
        if (!planted) isa::warp_sync();
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::OverwriteWhileRead, "cp.async writes"));
  }
}

TEST_P(CpAsyncTest, TheAsyncProxyNeedsAFenceAfterTheWait) {
  std::vector<std::uint8_t> target(512);
  const TensorMap map = byte_map(target, 8, 64, 8, 64);
  kernel.memory.push_back(range_of(target, "target", false));
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("move");
      copy_line(0);
      isa::cp_async_commit_group();
      if (planted) isa::fence_proxy_async();
      isa::cp_async_wait_group<0>();
      if (!planted) isa::fence_proxy_async();
      isa::warp_sync();
      if (isa::thread_index() != 0) return;
      const int at[2] = {0, 0};
      isa::cp_async_bulk_tensor_store(&map, address_at(0), at);
      isa::cp_async_bulk_commit_group();
      isa::cp_async_bulk_wait_group_read<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::MissingProxyFence, "TMA store reads"));
    if (!planted) {
      EXPECT_TRUE(std::equal(target.begin(), target.end(), source.begin()));
    }
  }
}

TEST_P(CpAsyncTest, AReaderFencesAfterItsWaitForCopiesThatArrive) {
  std::vector<std::uint8_t> target(512);
  const TensorMap map = byte_map(target, 8, 64, 8, 64);
  kernel.memory.push_back(range_of(target, "target", false));
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      start_barrier(barrier, 32, 32);
      copy_line(0);
      isa::cp_async_mbarrier_arrive_noinc(address_at(barrier));
      if (planted) isa::fence_proxy_async();
      wait(address_at(barrier), 0);
      if (!planted) isa::fence_proxy_async();
      if (isa::thread_index() != 0) return;
      const int at[2] = {0, 0};
      isa::cp_async_bulk_tensor_store(&map, address_at(0), at);
      isa::cp_async_bulk_commit_group();
      isa::cp_async_bulk_wait_group_read<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::MissingProxyFence, "TMA store reads"));
  }
}

TEST_P(CpAsyncTest, CopiesThatNobodyWaitedForAreFoundAtExit) {
  const Report no_wait = kernel.run([&] {
    isa::describe_role("load");
    copy_line(0);
    isa::cp_async_commit_group();
  });
  EXPECT_TRUE(found(no_wait, Checker::InFlightAtExit, "no cp.async.wait_group"));
  const Report no_reader = kernel.run([&] {
    isa::describe_role("load");
    start_barrier(barrier, 32, 32);
    copy_line(0);
    isa::cp_async_mbarrier_arrive_noinc(address_at(barrier));
  });
  EXPECT_TRUE(found(no_reader, Checker::InFlightAtExit));
}

TEST_P(CpAsyncTest, ArgumentsAreChecked) {
  const auto copy = [&](unsigned offset, unsigned from, unsigned bytes) {
    return kernel.run([&, offset, from, bytes] {
      isa::cp_async<16>(address_at(offset), source.data() + from, bytes);
      isa::cp_async_commit_group();
      isa::cp_async_wait_group<0>();
    });
  };
  kernel.threads = 1;
  EXPECT_TRUE(clean(copy(16, 16, 16)));
  EXPECT_TRUE(found(copy(8, 16, 16), Checker::Alignment, "multiples of 16"));
  EXPECT_TRUE(found(copy(16, 8, 16), Checker::Alignment, "multiples of 16"));
  EXPECT_TRUE(found(copy(16, 16, 17), Checker::Bounds, "17 source bytes of 16"));
  EXPECT_TRUE(found(copy(64 << 10, 16, 16), Checker::Bounds));
  EXPECT_TRUE(found(copy(16, 2048, 16), Checker::Bounds, "byte 2048 of source"));
  EXPECT_TRUE(clean(copy(16, 2048, 0))) << "nothing is read";
}

// A producer warp and a consumer warp share a ring of two stages.
TEST_P(CpAsyncTest, ARingOfStagesRunsClean) {
  kernel.threads = 64;
  constexpr unsigned stages = 2, laps = 5;
  const auto full = [](unsigned stage) { return address_at(barrier + 8 * stage); };
  const auto empty = [](unsigned stage) { return address_at(barrier + 64 + 8 * stage); };
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      const bool loads = isa::thread_index() < 32;
      isa::describe_role(loads ? "load" : "use");
      if (isa::thread_index() == 0) {
        for (unsigned stage = 0; stage < stages; ++stage) {
          isa::mbarrier_init(full(stage), 32);
          isa::mbarrier_init(empty(stage), 32);
        }
      }
      isa::barrier_sync(0, 64);
      const unsigned lane = isa::thread_index() % 32;
      for (unsigned step = 0; step < stages * laps; ++step) {
        const unsigned stage = step % stages, parity = step / stages % 2;
        if (loads) {
          if (step >= stages && !planted) wait(empty(stage), parity ^ 1);
          isa::cp_async<16>(address_at(512 * stage + 16 * lane),
                            &source[512 * (step % 4) + 16 * lane], 16);
          isa::cp_async_mbarrier_arrive_noinc(full(stage));
        } else {
          wait(full(stage), parity);
          const std::uint8_t seen = load_shared(shared_at<std::uint8_t>(512 * stage + 500 - lane));
          if (!planted) {
            EXPECT_EQ(seen, source[512 * (step % 4) + 500 - lane]);
          }
          isa::mbarrier_arrive(empty(stage));
        }
      }
      if (loads && !planted) {
        for (unsigned stage = 0; stage < stages; ++stage) wait(empty(stage), (laps - 1) % 2);
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::OverwriteWhileRead));
  }
}

INSTANTIATE_TEST_SUITE_P(, CpAsyncTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

}  // namespace
}  // namespace tw::test
