// Warps of 64 lanes: the launch says how many, so that one binary runs both kinds.
#include "tests/vgpu/support.h"
#include "tilewright/isa/ptx/warp_matrix.h"

namespace tw::test {
namespace {

constexpr unsigned wave = 64;

TEST(Wave, ElectsOneOfItsLanes) {
  std::vector<unsigned> elected(8, 0);
  EXPECT_TRUE(clean(Kernel{.threads = 256, .lanes = wave}.run([&] {
    if (isa::elect_one()) ++elected[isa::thread_index() / 32];
  })));
  EXPECT_EQ(elected, (std::vector<unsigned>{1, 0, 1, 0, 1, 0, 1, 0}));
}

TEST(Wave, ShufflesAmongAllItsLanes) {
  for (const Landing landing : every_landing) {
    EXPECT_TRUE(clean(Kernel{.options = {.landing = landing}, .lanes = wave}.run([] {
      const unsigned thread = isa::thread_index();
      for (const unsigned round : {0u, 1u, 31u, 32u, 40u, 63u}) {
        const unsigned source = (thread + round) % wave;
        EXPECT_EQ(isa::shuffle(thread * 100 + round, source),
                  (thread / wave * wave + source) * 100 + round);
      }
    })));
  }
}

TEST(Wave, IsAsLargeAsTheLaunchSays) {
  // The other half of the wave is another warp where warps have 32 lanes.
  for (const unsigned lanes : {32u, 64u}) {
    const Report report = Kernel{.threads = wave, .lanes = lanes}.run([&] {
      store_shared(shared_at(4 * isa::thread_index()), isa::thread_index());
      isa::warp_sync();
      const unsigned other = (isa::thread_index() + 32) % wave;
      EXPECT_TRUE(load_shared(shared_at(4 * other)) == other || lanes == 32);
    });
    EXPECT_TRUE(found_if(lanes == 32, report, Checker::Race));
  }
}

TEST(Wave, WaitsForItsUpperLanes) {
  const Report report = Kernel{.threads = wave, .lanes = wave}.run([&] {
    const unsigned lane = isa::thread_index();
    if (lane >= 50) return;
    if (lane >= 40) {
      isa::barrier_sync(1, wave);
    } else {
      isa::warp_sync();
    }
  });
  EXPECT_TRUE(found(report, Checker::Deadlock,
                    "in warp_sync; lanes 50-63 have returned; lanes 40-49 are elsewhere"));
}

TEST(Wave, BringsWholeWavesToABarrier) {
  const Report report = Kernel{.threads = 96, .lanes = wave}.run([] { isa::barrier_sync(1, 96); });
  EXPECT_TRUE(found(report, Checker::ArrivalCount, "it takes a multiple of 64"));
}

TEST(Wave, HasNoInstructionsOf32Lanes) {
  const Kernel kernel = {.threads = 128, .lanes = wave};
  const char* words = "in a warp of 64 lanes; it takes 32";
  EXPECT_TRUE(found(kernel.run([] {
    std::uint32_t registers[4];
    isa::ldmatrix_x4(registers, address_at(0));
  }),
                    Checker::Divergence, words));
  EXPECT_TRUE(found(kernel.run([] { isa::stmatrix_x4(address_at(0), 0, 0, 0, 0); }),
                    Checker::Divergence, words));
  EXPECT_TRUE(
      found(kernel.run([] { isa::setmaxnreg_decrease<40>(); }), Checker::Divergence, words));
  EXPECT_TRUE(found(kernel.run([] {
    float sums[4] = {};
    isa::wgmma<WgmmaShape{.n = 8}>(sums, 0, 0, false);
  }),
                    Checker::Divergence, words));
}

}  // namespace
}  // namespace tw::test
