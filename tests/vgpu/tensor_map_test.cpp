// Where a tensor map may lie: the hardware reads it by its address, and not from everywhere.
#include <cstring>

#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

struct PlacedMap : ::testing::Test {
  std::vector<std::uint8_t> matrix = std::vector<std::uint8_t>(64 * 64);
  TensorMap map = byte_map(matrix, 64, 64, 8, 16);
  Kernel kernel{.threads = 32, .memory = {range_of(matrix, "matrix")}};

  // Thread 0 loads a box by the map that choose() gives it.
  template <class Choose>
  Report load(const Choose& choose) const {
    return kernel.run([&] {
      if (isa::thread_index() != 0) return;
      isa::describe_role("load");
      isa::mbarrier_init(address_at(1024), 1);
      isa::fence_mbarrier_init();
      isa::mbarrier_arrive_expect_tx(address_at(1024), 128);
      choose([&](const TensorMap* placed) { load_box(0, *placed, 1024, 0, 0); });
      wait(address_at(1024), 0);
    });
  }
};

TEST_F(PlacedMap, IsAParameterOrGlobalMemory) {
  EXPECT_TRUE(clean(load([&](const auto& with) { with(&map); })));
  alignas(64) std::byte room[sizeof(TensorMap)];
  std::memcpy(room, &map, sizeof map);
  kernel.memory.push_back({room, sizeof room, "maps", true, true, false});
  EXPECT_TRUE(
      clean(load([&](const auto& with) { with(reinterpret_cast<const TensorMap*>(room)); })));
}

TEST_F(PlacedMap, IsNotLocalAndNotShared) {
  const auto local = [&](const auto& with) {
    const TensorMap copy = map;
    with(&copy);
  };
  EXPECT_TRUE(found(load(local), Checker::Bounds,
                    "load role (thread 0 of CTA 0) gives cp.async.bulk.tensor load a tensor map in "
                    "local memory"));
  const auto shared = [&](const auto& with) { with(shared_at<TensorMap>(2048)); };
  EXPECT_TRUE(found(load(shared), Checker::Bounds, "a tensor map in shared memory"));
  EXPECT_TRUE(found(kernel.run([&] {
    const TensorMap copy = map;
    isa::prefetch_tensormap(&copy);
  }),
                    Checker::Bounds, "gives prefetch.tensormap a tensor map in local memory"));
}

TEST_F(PlacedMap, IsAlignedTo64Bytes) {
  alignas(64) std::byte room[sizeof(TensorMap) + 64];
  for (const unsigned offset : {0u, 16u, 32u, 64u}) {
    std::memcpy(room + offset, &map, sizeof map);
    const Report report =
        load([&](const auto& with) { with(reinterpret_cast<const TensorMap*>(room + offset)); });
    EXPECT_TRUE(found_if(offset % 64 != 0, report, Checker::Alignment,
                         "a tensor map " + std::to_string(offset) + " bytes behind a multiple"));
  }
}

// A run inside of a run: what is local there is a parameter here.
TEST_F(PlacedMap, MayBeLocalToARunAroundThis) {
  EXPECT_TRUE(clean(Kernel{.threads = 32}.run([&] {
    const TensorMap copy = map;
    if (isa::thread_index() != 0) return;
    EXPECT_TRUE(clean(load([&](const auto& with) { with(&copy); })));
  })));
}

}  // namespace
}  // namespace tw::test
