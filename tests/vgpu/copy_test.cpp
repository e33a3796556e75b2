// TMA loads and stores, their barriers and groups.
#include <numeric>

#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

std::vector<std::uint8_t> counted(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

struct LoadTest : ::testing::TestWithParam<Landing> {
  std::vector<std::uint8_t> source = counted(20 * 64);
  TensorMap map = byte_map(source, 20, 64, 8, 32);  // boxes of 8 rows and 32 columns: 256 bytes
  Kernel kernel{.threads = 32,
                .memory = {range_of(source, "source", true, false)},
                .options = {.landing = GetParam()}};
};

TEST_P(LoadTest, BringsTheBoxWithZerosOutside) {
  const Report report = kernel.run([&] {
    start_barrier(1024, 1, 32);
    if (isa::thread_index() == 0) {
      isa::mbarrier_arrive_expect_tx(address_at(1024), 256);
      load_box(0, map, 1024, 48, 16);  // 16 columns and 4 rows are inside
    }
    wait(address_at(1024), 0);
    const unsigned column = isa::thread_index();
    for (unsigned row = 0; row < 8; ++row) {
      const bool inside = column < 16 && row < 4;
      const unsigned expected = inside ? source[(16 + row) * 64 + 48 + column] : 0;
      EXPECT_EQ(load_shared(shared_at<std::uint8_t>(32 * row + column)), expected);
    }
  });
  EXPECT_TRUE(clean(report));
}

TEST_P(LoadTest, ReadingWithoutTheWaitIsFoundWhateverTheLuck) {
  const Report report = kernel.run([&] {
    isa::describe_role(isa::thread_index() == 0 ? "load" : "use");
    isa::describe_shared(address_at(0), 256, "input", 2);
    start_barrier(1024, 1, 32);
    if (isa::thread_index() == 0) {
      isa::mbarrier_arrive_expect_tx(address_at(1024), 256);
      load_box(0, map, 1024, 0, 0);
    }
    isa::warp_sync();
    if (isa::thread_index() == 7) {
      const unsigned early = load_shared(shared_at<std::uint8_t>(5));
      EXPECT_TRUE(early == source[5] || early == 0xFF) << "landed, or poison";
      EXPECT_TRUE(early == 0xFF || GetParam() != Landing::Lazy);
    }
    wait(address_at(1024), 0);
  });
  const vgpu::Finding* finding = find(report, Checker::ReadBeforeFull);
  ASSERT_NE(finding, nullptr) << text_of(report);
  EXPECT_EQ(finding->role, "use");
  EXPECT_EQ(finding->stage, 2);
  EXPECT_NE(finding->text.find("full stage 3"), std::string::npos) << finding->text;
}

TEST_P(LoadTest, ExpectedBytesMayComeAfterTheCopy) {
  EXPECT_TRUE(clean(kernel.run([&] {
    start_barrier(1024, 1, 32);
    if (isa::thread_index() == 0) {
      load_box(0, map, 1024, 0, 0);
      load_box(256, map, 1024, 32, 0);
      isa::mbarrier_arrive_expect_tx(address_at(1024), 512);
    }
    wait(address_at(1024), 0);
  })));
}

TEST_P(LoadTest, WrongByteCountsAreFound) {
  for (const unsigned expected : {256u, 128u, 300u}) {
    const Report report = kernel.run([&] {
      isa::describe_role(isa::thread_index() == 0 ? "load" : "use");
      start_barrier(1024, 1, 32);
      if (isa::thread_index() == 0) {
        isa::mbarrier_arrive_expect_tx(address_at(1024), expected);
        load_box(0, map, 1024, 0, 0);
      }
      wait(address_at(1024), 0);
    });
    EXPECT_TRUE(found_if(expected != 256, report, Checker::TransactionBytes, "full stage 3"));
    for (const auto& finding : report.findings) {
      EXPECT_TRUE(finding.checker != Checker::TransactionBytes || finding.role == "load");
    }
  }
}

TEST_P(LoadTest, BytesThatNobodyExpectedInThisPhaseAreFound) {
  const Report report = kernel.run([&] {
    start_barrier(1024, 1, 32);
    if (isa::thread_index() == 0) {
      load_box(0, map, 1024, 0, 0);
      isa::mbarrier_arrive(address_at(1024));
    }
    wait(address_at(1024), 0);
  });
  EXPECT_TRUE(found(report, Checker::TransactionBytes));
}

TEST_P(LoadTest, OverwritingWhatOthersReadIsFound) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role(isa::thread_index() == 0 ? "load" : "use");
      isa::describe_shared(address_at(0), 256, "input", 1);
      start_barrier(1024, 1, 32);
      for (unsigned lap = 0; lap < 2; ++lap) {
        if (isa::thread_index() == 0) {
          isa::mbarrier_arrive_expect_tx(address_at(1024), 256);
          load_box(0, map, 1024, 0, 0);
        }
        wait(address_at(1024), lap);
        load_shared(shared_at<std::uint8_t>(isa::thread_index()));
        if (!planted) isa::warp_sync();
      }
    });
    EXPECT_EQ(report.verdict(), planted ? Report::Found : Report::Clean) << text_of(report);
  }
}

TEST_P(LoadTest, GenericWritesNeedAFenceBeforeTheyAreOverwritten) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("recycle");
      start_barrier(1024, 1, 32);
      store_shared(shared_at<std::uint8_t>(isa::thread_index()), std::uint8_t{9});
      if (!planted) isa::fence_proxy_async();
      isa::warp_sync();
      if (isa::thread_index() == 0) {
        isa::mbarrier_arrive_expect_tx(address_at(1024), 256);
        load_box(0, map, 1024, 0, 0);
      }
      wait(address_at(1024), 0);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::MissingProxyFence, "TMA load writes"));
  }
}

TEST_P(LoadTest, BarrierNeedsItsFenceBeforeCopiesSignalIt) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      if (isa::thread_index() == 0) {
        isa::mbarrier_init(address_at(1024), 1);
        if (!planted) isa::fence_mbarrier_init();
        isa::mbarrier_arrive_expect_tx(address_at(1024), 256);
        load_box(0, map, 1024, 0, 0);
      }
      isa::warp_sync();
      wait(address_at(1024), 0);
    });
    EXPECT_TRUE(found_if(planted, report, Checker::BarrierLife, "fence.mbarrier_init is missing"));
  }
}

TEST_P(LoadTest, CopiesThatNobodyWaitedForAreFoundAtExit) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("load");
      start_barrier(1024, 1, 32);
      if (isa::thread_index() == 0) {
        isa::mbarrier_arrive_expect_tx(address_at(1024), 256);
        load_box(0, map, 1024, 0, 0);
        if (!planted) wait(address_at(1024), 0);
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::InFlightAtExit, "full stage 3"));
  }
}

TEST_P(LoadTest, SourceMustBeInsideAndWritten) {
  kernel.memory = {range_of(source, "source", false, false)};
  const auto load = [&] {
    start_barrier(1024, 1, 32);
    if (isa::thread_index() == 0) {
      isa::mbarrier_arrive_expect_tx(address_at(1024), 256);
      load_box(0, map, 1024, 0, 0);
    }
    wait(address_at(1024), 0);
  };
  EXPECT_TRUE(found(kernel.run(load), Checker::Uninitialised, "of source"));
  kernel.memory = {{source.data(), 100, "source"}};
  EXPECT_TRUE(found(kernel.run(load), Checker::Bounds, "of source, which has 100 bytes"));
}

INSTANTIATE_TEST_SUITE_P(, LoadTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

struct StoreTest : ::testing::TestWithParam<Landing> {
  std::vector<std::uint8_t> target = std::vector<std::uint8_t>(20 * 64, 0xEE);
  TensorMap map = byte_map(target, 20, 64, 8, 32);
  Kernel kernel{.threads = 32,
                .memory = {range_of(target, "target", false)},
                .options = {.landing = GetParam()}};
  static void store(const TensorMap& map, unsigned offset, int column, int row) {
    const int at[2] = {column, row};
    isa::cp_async_bulk_tensor_store(&map, address_at(offset), at);
    isa::cp_async_bulk_commit_group();
  }
  static void fill(unsigned offset, unsigned value) {
    const std::uint32_t word = value * 0x01010101;
    for (unsigned i = 0; i < 2; ++i)
      store_shared(shared_at(offset + 8 * isa::thread_index() + 4 * i), word);
  }
};

TEST_P(StoreTest, WritesWhatIsInsideAndNothingElse) {
  const Report report = kernel.run([&] {
    fill(0, 5);
    isa::fence_proxy_async();
    isa::warp_sync();
    if (isa::thread_index() == 0) {
      store(map, 0, 48, 16);
      isa::cp_async_bulk_wait_group_read<0>();
    }
  });
  EXPECT_TRUE(clean(report));
  for (unsigned row = 0; row < 20; ++row) {
    for (unsigned column = 0; column < 64; ++column) {
      EXPECT_EQ(target[row * 64 + column], row >= 16 && column >= 48 ? 5 : 0xEE);
    }
  }
}

TEST_P(StoreTest, WritersMustFenceAndMeet) {
  for (const bool fence : {false, true}) {
    for (const bool meet : {false, true}) {
      const Report report = kernel.run([&] {
        isa::describe_role("epilogue");
        isa::describe_shared(address_at(0), 256, "output", 1);
        fill(0, 5);
        if (fence) isa::fence_proxy_async();
        if (meet) isa::warp_sync();
        if (!meet) isa::shuffle(0, 0);  // the writes are there, but nothing says so
        if (isa::thread_index() == 0) {
          store(map, 0, 0, 0);
          isa::cp_async_bulk_wait_group_read<0>();
        }
      });
      if (fence && meet) {
        EXPECT_TRUE(clean(report));
        continue;
      }
      const Checker expected = meet ? Checker::MissingProxyFence : Checker::Race;
      EXPECT_TRUE(found(report, expected, "TMA store reads output stage 1"));
    }
  }
}

TEST_P(StoreTest, TheReaderMayFenceForTheWritersButNobodyElse) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      fill(0, 5);
      isa::warp_sync();
      if ((isa::thread_index() == 0) != planted) isa::fence_proxy_async();
      isa::shuffle(0, 0);
      if (isa::thread_index() == 0) {
        store(map, 0, 0, 0);
        isa::cp_async_bulk_wait_group_read<0>();
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::MissingProxyFence, "TMA store reads"));
  }
}

TEST_P(StoreTest, FenceCoversOnlyTheWritesBeforeIt) {
  const Report report = kernel.run([&] {
    isa::describe_shared(address_at(0), 256, "output", 0);
    fill(0, 5);
    isa::fence_proxy_async();
    if (isa::thread_index() == 3) store_shared(shared_at<std::uint8_t>(24), std::uint8_t{1});
    isa::warp_sync();
    if (isa::thread_index() == 0) {
      store(map, 0, 0, 0);
      isa::cp_async_bulk_wait_group_read<0>();
    }
  });
  EXPECT_TRUE(found(report, Checker::MissingProxyFence, "which the thread 3 of CTA 0 wrote"));
}

TEST_P(StoreTest, WaitCoversOnlyTheGroupsItDoesNotLeavePending) {
  for (const unsigned buffer : {0u, 1u}) {
    const Report report = kernel.run([&] {
      fill(0, 5);
      fill(256, 6);
      isa::fence_proxy_async();
      isa::warp_sync();
      if (isa::thread_index() == 0) {
        store(map, 0, 0, 0);
        store(map, 256, 32, 0);
        isa::cp_async_bulk_wait_group_read<1>();
      }
      isa::warp_sync();
      fill(256 * buffer, 7);
      if (isa::thread_index() == 0) isa::cp_async_bulk_wait_group_read<0>();
    });
    EXPECT_TRUE(found_if(buffer == 1, report, Checker::OverwriteWhileRead));
  }
}

TEST_P(StoreTest, BufferMayBeWrittenAgainOnceItWasRead) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("epilogue");
      for (unsigned chunk = 0; chunk < 4; ++chunk) {
        const unsigned buffer = chunk % 2 * 256;
        if (isa::thread_index() == 0) {
          planted ? isa::cp_async_bulk_wait_group_read<2>()
                  : isa::cp_async_bulk_wait_group_read<1>();
        }
        isa::warp_sync();
        fill(buffer, chunk + 1);
        isa::fence_proxy_async();
        isa::warp_sync();
        if (isa::thread_index() == 0) store(map, buffer, chunk % 2 * 32, chunk / 2 * 8);
      }
      if (isa::thread_index() == 0) isa::cp_async_bulk_wait_group_read<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::OverwriteWhileRead, "a TMA store"));
    if (planted) continue;
    EXPECT_EQ(target[0], 1);
    EXPECT_EQ(target[32], 2);
    EXPECT_EQ(target[8 * 64], 3);
    EXPECT_EQ(target[8 * 64 + 32], 4);
  }
}

TEST_P(StoreTest, UnwrittenBytesAreFoundOnlyIfTheyWouldBeStored) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      // Rows 0 to 3 are written; the store at row 16 has only these inside the tensor.
      if (isa::thread_index() < 16) fill(0, 5);
      isa::fence_proxy_async();
      isa::warp_sync();
      if (isa::thread_index() == 0) {
        store(map, 0, 0, planted ? 0 : 16);
        isa::cp_async_bulk_wait_group_read<0>();
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Uninitialised, "nobody has written"));
  }
}

TEST_P(StoreTest, StoresMustHaveReadBeforeTheThreadReturns) {
  for (const bool planted : {false, true}) {
    const Report report = kernel.run([&] {
      isa::describe_role("epilogue");
      fill(0, 5);
      isa::fence_proxy_async();
      isa::warp_sync();
      if (isa::thread_index() == 0) {
        store(map, 0, 0, 0);
        if (!planted) isa::cp_async_bulk_wait_group_read<0>();
      }
    });
    EXPECT_TRUE(found_if(planted, report, Checker::InFlightAtExit, "epilogue role"));
    EXPECT_EQ(target[0], 5);
  }
}

TEST_P(StoreTest, TargetMustBeInsideAndWritable) {
  const auto body = [&] {
    fill(0, 5);
    isa::fence_proxy_async();
    isa::warp_sync();
    if (isa::thread_index() == 0) {
      store(map, 0, 0, 0);
      isa::cp_async_bulk_wait_group_read<0>();
    }
  };
  kernel.memory = {range_of(target, "target", true, false)};
  EXPECT_TRUE(found(kernel.run(body), Checker::Bounds, "read-only"));
  kernel.memory = {{target.data(), 64, "target"}};
  EXPECT_TRUE(found(kernel.run(body), Checker::Bounds, "of target, which has 64 bytes"));
}

INSTANTIATE_TEST_SUITE_P(, StoreTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

TEST(Copy, AddressesRanksAndMapsAreChecked) {
  std::vector<std::uint8_t> source = counted(20 * 64);
  const TensorMap map = byte_map(source, 20, 64, 8, 32);
  const Kernel kernel{.threads = 32, .shared_bytes = 4096, .memory = {range_of(source, "source")}};
  const auto load = [&](unsigned offset, unsigned barrier) {
    return kernel.run([&, offset, barrier] {
      start_barrier(1024, 1, 32);
      if (isa::thread_index() == 0) load_box(offset, map, barrier, 0, 0);
    });
  };
  EXPECT_TRUE(found(load(64, 1024), Checker::Alignment, "multiple of 128"));
  EXPECT_TRUE(found(load(4096 - 128, 1024), Checker::Bounds, "with 256 bytes"));
  EXPECT_TRUE(found(load(0, 1032), Checker::BarrierLife, "never initialised"));
  const Report rank = kernel.run([&] {
    start_barrier(1024, 1, 32);
    const int at[3] = {0, 0, 0};
    isa::cp_async_bulk_tensor_load(address_at(0), &map, address_at(1024), at,
                                   isa::CacheHint::EvictNormal);
  });
  EXPECT_TRUE(found(rank, Checker::Bounds, "3 coordinates for a tensor of rank 2"));
  const TensorMap nothing = {};
  const Report garbage = kernel.run([&] { isa::prefetch_tensormap(&nothing); });
  EXPECT_TRUE(found(garbage, Checker::Exception));
}

}  // namespace
}  // namespace tw::test
