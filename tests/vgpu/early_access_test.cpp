// Launches that overlap the grid before them: what that grid may still use is touched behind a
// griddepcontrol.wait, of the thread itself or of one that a barrier orders before it.
#include "tests/vgpu/support.h"
#include "tilewright/isa/ptx/cluster_memory.h"
#include "tilewright/isa/ptx/counter.h"
#include "tilewright/isa/ptx/cp_async.h"
#include "tilewright/isa/ptx/grid.h"

namespace tw::test {
namespace {

TEST(EarlyAccess, ThereIsNoEarlierGridToWaitFor) {
  EXPECT_TRUE(clean(Kernel{.threads = 32}.run([] {
    isa::griddepcontrol_wait();
    isa::griddepcontrol_launch_dependents();
  })));
}

TEST(EarlyAccess, MemoryOfEarlierGridsIsTouchedBehindTheWait) {
  std::uint32_t words[2] = {};
  for (const bool constant : {false, true}) {
    const Kernel kernel{.threads = 1,
                        .memory = {{&words[0], 4, "tokens", true, true, false},
                                   {&words[1], 4, "weights", true, false, constant}}};
    EXPECT_TRUE(found_if(!constant, kernel.run([&] {
      load_element<Space::Global>(&words[1]);
      isa::griddepcontrol_wait();
      load_element<Space::Global>(&words[0]);
    }),
                         Checker::EarlyAccess, "touches weights and waits for earlier grids"));
    EXPECT_TRUE(found(kernel.run([&] {
      store_element<Space::Global>(&words[0], 1u);
      isa::griddepcontrol_wait();
    }),
                      Checker::EarlyAccess, "touches tokens"));
    // A grid that does not wait is launched behind the others.
    EXPECT_TRUE(clean(kernel.run([&] { load_element<Space::Global>(&words[0]); })));
  }
}

struct Overlapping : ::testing::Test {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(4096);
  TensorMap map = byte_map(bytes, 64, 64, 8, 16);
  std::uint32_t* words() { return reinterpret_cast<std::uint32_t*>(bytes.data()); }

  Kernel kernel{.threads = 64, .memory = {range_of(bytes, "tokens")}, .dependent_launch = true};
  Report run(const std::function<void()>& body) const { return kernel.run(body); }
};

TEST_F(Overlapping, EveryKindOfAccessWaits) {
  const std::function<void()> accesses[] = {
      [&] { (void)load_element<Space::Global>(words()); },
      [&] { store_element<Space::Global>(words(), 1u); },
      [&] { (void)isa::global_fetch_add(words(), 1); },
      [&] { isa::global_add_release(words(), 1); },
      [&] { isa::global_store_release(words(), 0); },
      [&] { isa::global_wait_at_least(words(), 0); },
      [&] { isa::global_atomic_max_float_bits(words(), 0); },
      [&] {
        isa::cp_async<16>(address_at(2048), words(), 16);
        isa::cp_async_commit_group();
        isa::cp_async_wait_group<0>();
      },
      [&] {
        isa::mbarrier_init(address_at(1024), 1);
        isa::fence_mbarrier_init();
        isa::mbarrier_arrive_expect_tx(address_at(1024), 128);
        load_box(0, map, 1024, 0, 0);
        wait(address_at(1024), 0);
      },
      [&] {
        const int at[2] = {0, 0};
        for (unsigned i = 0; i < 32; ++i) store_shared(shared_at(4 * i), i);
        isa::fence_proxy_async();
        isa::cp_async_bulk_tensor_store(&map, address_at(0), at);
        isa::cp_async_bulk_commit_group();
        isa::cp_async_bulk_wait_group_read<0>();
      },
  };
  for (const auto& access : accesses) {
    for (const bool waits : {false, true}) {
      const Report report = run([&] {
        if (isa::thread_index() != 0) return;
        isa::describe_role("first");
        if (waits) isa::griddepcontrol_wait();
        access();
      });
      EXPECT_TRUE(found_if(!waits, report, Checker::EarlyAccess, "touches tokens before"));
      EXPECT_TRUE(waits || find(report, Checker::EarlyAccess)->role == "first");
    }
  }
}

TEST_F(Overlapping, AWaitOfAnotherThreadCountsBehindABarrier) {
  const auto touch = [&](const std::function<void()>& between) {
    return run([&] {
      if (isa::thread_index() == 0) {
        isa::mbarrier_init(address_at(1024), 1);
        isa::fence_mbarrier_init();
      }
      isa::barrier_sync(1, 64);
      if (isa::thread_index() == 0) isa::griddepcontrol_wait();
      between();
      if (isa::thread_index() == 40) (void)load_element<Space::Global>(words());
    });
  };
  EXPECT_TRUE(clean(touch([] { isa::barrier_sync(0, 64); })));
  EXPECT_TRUE(clean(touch([] {
    if (isa::thread_index() == 0) isa::mbarrier_arrive(address_at(1024));
    if (isa::thread_index() == 40) wait(address_at(1024), 0);
  })));
  EXPECT_TRUE(clean(touch([] {
    isa::cluster_arrive_release();
    isa::cluster_wait();
  })));
  // Time orders nothing, and neither does a barrier of others.
  EXPECT_TRUE(found(touch([] { stand_back(); }), Checker::EarlyAccess));
  EXPECT_TRUE(found(touch([] {
                      if (isa::thread_index() < 32) isa::barrier_sync(0, 32);
                    }),
                    Checker::EarlyAccess, "thread 40"));
}

TEST_F(Overlapping, HalfOfTheWarpsMayNotWaitForTheOther) {
  for (const unsigned waiting : {0u, 1u}) {
    const Report report = run([&] {
      const unsigned warp = isa::thread_index() / 32;
      isa::describe_role(warp == 0 ? "load" : "store");
      if (warp == waiting) isa::griddepcontrol_wait();
      if (isa::thread_index() == 0) (void)load_element<Space::Global>(words());
      if (isa::thread_index() == 32) store_element<Space::Global>(words() + 1, 1u);
    });
    ASSERT_EQ(report.findings.size(), 1u) << text_of(report);
    EXPECT_EQ(report.findings[0].role, waiting == 0 ? "store" : "load");
  }
}

TEST_F(Overlapping, OtherLaunchesAndConstantMemoryAreNotJudged) {
  const auto load = [&] { (void)load_element<Space::Global>(words()); };
  EXPECT_TRUE(found(run(load), Checker::EarlyAccess));
  kernel.dependent_launch = false;
  EXPECT_TRUE(clean(run(load)));
  kernel.dependent_launch = true;
  kernel.memory[0].constant = true;
  EXPECT_TRUE(clean(run(load)));
}

}  // namespace
}  // namespace tw::test
