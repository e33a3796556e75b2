// Ping-pong on the virtual GPU: results, and that no wait, barrier or stagger of its plan can be
// left out. Calls of s_waitcnt, s_barrier and s_setprio come through here (the linker wraps them),
// where one of them is omitted: a wait by its place in the program, which is its return address, a
// barrier by what its wave did last, for it stands in every step of an unrolled loop.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "src/verify/compare.h"
#include "src/verify/data.h"
#include "src/verify/reference.h"
#include "tests/vgpu/support.h"
#include "tilewright/arch/gfx942.h"
#include "tilewright/arch/gfx950.h"
#include "tilewright/schedule/xcd_order.h"
#include "vgpu/simulate.h"

extern "C" void __real__ZN2tw5model9s_waitcntEjj(unsigned vmcnt, unsigned lgkmcnt);
extern "C" void __real__ZN2tw5model9s_barrierEv();
extern "C" void __real__ZN2tw5model9s_setprioEj(unsigned priority);

namespace tw::test {
namespace {

// Where a wait or a barrier stands.
struct Place {
  const void* address;  // a wait's
  std::string name;
  auto operator<=>(const Place&) const = default;
};
// What a run leaves out.
struct Mutation {
  enum Kind { None, Omit, SlideVmcnt, SlideLgkmcnt } kind = None;
  Place place = {};  // to Omit
  bool omits(const Place& at) const { return kind == Omit && place == at; }
};
Mutation mutation;
std::set<Place> places;  // that the run came by
struct OfThread {
  const char* last = "the start";
  bool is_late = false;  // waits behind its next barrier
  unsigned vmcnt = 0, lgkmcnt = 0;
};
std::map<unsigned, OfThread> threads;

void wait_count(const void* address, unsigned vmcnt, unsigned lgkmcnt) {
  OfThread& own = threads[isa::thread_index()];
  const bool for_loads = lgkmcnt == isa::any_lgkmcnt;
  own.last = for_loads ? "s_waitcnt vmcnt" : "s_waitcnt lgkmcnt";
  const Place place = {address, own.last};
  places.insert(place);
  if (mutation.omits(place)) return;
  if (mutation.kind == (for_loads ? Mutation::SlideVmcnt : Mutation::SlideLgkmcnt)) {
    own.is_late = true;
    own.vmcnt = vmcnt;
    own.lgkmcnt = lgkmcnt;
  } else {
    __real__ZN2tw5model9s_waitcntEjj(vmcnt, lgkmcnt);
  }
}

void barrier() {
  OfThread& own = threads[isa::thread_index()];
  const Place place = {
      nullptr, std::string("s_barrier behind ") + own.last +
                   (isa::thread_index() < 256 ? " of the first group" : " of the second group")};
  // Those of all waves are one.
  const bool alone = std::string(own.last) == "s_barrier";
  const Place known = alone ? place : Place{nullptr, std::string("s_barrier behind ") + own.last};
  places.insert(known);
  own.last = "s_barrier";
  if (mutation.omits(known)) return;
  __real__ZN2tw5model9s_barrierEv();
  if (!own.is_late) return;
  own.is_late = false;
  __real__ZN2tw5model9s_waitcntEjj(own.vmcnt, own.lgkmcnt);
}

struct Small {
  static constexpr MatmulConfig config = {.tiling = {.n = 128}, .multiply_groups = 1};
};
struct Large {
  static constexpr MatmulConfig config = {.tiling = {.m = 256}, .multiply_groups = 1};
};
struct SmallBytes {
  static constexpr MatmulConfig config = {
      .tiling = {.n = 128, .a_type = ElementType::E5m2, .b_type = ElementType::E4m3},
      .multiply_groups = 1};
};
using One = Matmul<Gfx942PingPong, Large>;
using Two = Matmul<Gfx942PingPong, Small>;
using Four = Matmul<Gfx950PingPong, Small>;
using Bytes = Matmul<Gfx950PingPong, SmallBytes>;
static_assert(One::stages == 1 && Two::stages == 2 && Four::stages == 4 && Bytes::stages == 4);
// All but two of the halves that a ring holds may be on their way.
static_assert(Four::Loader::a_loads == 1 && WaveSteps<4, 1, 1>::in_flight == 14);
static_assert(Two::Loader::a_loads == 4 && WaveSteps<2, 4, 4>::in_flight == 24);
static_assert(One::Loader::b_loads == 8 && WaveSteps<1, 8, 8>::in_flight == 16);

vgpu::Options options_of(Landing landing, unsigned sm_count) {
  vgpu::Options options;
  options.landing = landing;
  options.sm_count = sm_count;
  return options;
}

struct Outcome {
  Report report;
  std::string wrong;  // a sentence; empty: nothing is
};
template <class Kernel>
Outcome run(std::int64_t m, std::int64_t n, std::int64_t k, const vgpu::Options& options) {
  MatmulShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.a_type = Kernel::config.tiling.a_type;
  shape.b_type = Kernel::config.tiling.b_type;
  shape.a_major = Kernel::config.tiling.a_major;
  shape.b_major = Kernel::config.tiling.b_major;
  MatmulData data = make_matmul_data(shape, Fill::Integers, options.seed);
  Outcome result;
  threads.clear();
  result.report = simulate<Kernel>(problem_on_host(data, shape), options);
  result.wrong = compare(data, reference_on_host(data, shape)).complaint();
  return result;
}

TEST(PingPong, IsExactAndCleanUnderEverySchedule) {
  for (const Landing landing : every_landing) {
    const auto check = [&](const Outcome& result) {
      EXPECT_TRUE(clean(result.report)) << vgpu::name_of(landing);
      EXPECT_EQ(result.wrong, "") << vgpu::name_of(landing);
    };
    // One k-tile, fewer than stages, more; rows, columns and k that are no multiples.
    check(run<One>(256, 256, 64, options_of(landing, 1)));
    check(run<One>(100, 258, 64 * 3 + 5, options_of(landing, 1)));
    check(run<Two>(128, 128, 64, options_of(landing, 1)));
    check(run<Two>(70, 90, 144, options_of(landing, 2)));
    check(run<Two>(129, 66, 64 * 2 + 3, options_of(landing, 4)));
    check(run<Four>(130, 129, 64 * 9 + 8, options_of(landing, 1)));
    check(run<Four>(64, 40, 64 * 6 + 5, options_of(landing, 2)));
    check(run<Bytes>(72, 136, 128 * 5 + 16, options_of(landing, 2)));
    check(run<Bytes>(67, 61, 331, options_of(landing, 2)));
  }
}

// TW_SCHEDULES: how many seeds, where more are asked for than CI has time for.
TEST(PingPong, IsExactAndCleanWithManySeeds) {
  const char* const asked = std::getenv("TW_SCHEDULES");
  const unsigned seeds = asked != nullptr ? static_cast<unsigned>(std::atoi(asked)) : 1;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    for (const Landing landing : {Landing::Random, Landing::Adversarial}) {
      vgpu::Options options = options_of(landing, 1 + seed % 3);
      options.seed = seed;
      const auto check = [&](const Outcome& result) {
        EXPECT_TRUE(clean(result.report)) << seed << ", " << vgpu::name_of(landing);
        EXPECT_EQ(result.wrong, "") << seed << ", " << vgpu::name_of(landing);
      };
      check(run<Four>(130, 129, 64 * 6 + 8 * (seed % 9), options));
      check(run<Bytes>(129, 140, 128 * 5 + seed % 50, options));
      check(run<Two>(100, 140, 64 * 3 + 2 * (seed % 31), options));
    }
  }
}

template <class Kernel>
void omit_each(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto with = [&](const Mutation& given, Landing landing) {
    mutation = given;
    const Outcome result = run<Kernel>(m, n, k, options_of(landing, 1));
    mutation = {};
    return result.report;
  };
  places.clear();
  ASSERT_TRUE(clean(with({}, Landing::Random)));
  const auto all = places;
  for (const Place& place : all) {
    const Report report = with({Mutation::Omit, place}, Landing::Random);
    EXPECT_EQ(report.verdict(), Report::Found) << "without " << place.name;
  }
  // There is at least one wait for each counter. Barriers: at the start, behind reads, behind
  // products, the stagger, and its end.
  const auto count = [&](const std::string& name) {
    return std::count_if(all.begin(), all.end(),
                         [&](const Place& place) { return place.name.starts_with(name); });
  };
  EXPECT_GE(count("s_waitcnt vmcnt"), 2);
  EXPECT_GE(count("s_waitcnt lgkmcnt"), 1);
  EXPECT_EQ(count("s_barrier"), 5);
  // Waits that stand behind the barrier instead of before it.
  EXPECT_TRUE(found(with({Mutation::SlideVmcnt}, Landing::Random), Checker::ReadBeforeFull,
                    "s_waitcnt vmcnt is missing, or not before the barrier"));
  EXPECT_TRUE(found(with({Mutation::SlideLgkmcnt}, Landing::Random), Checker::OverwriteWhileRead,
                    "s_waitcnt lgkmcnt is missing, or not before the barrier"));
}

TEST(PingPong, NoWaitBarrierOrStaggerCanBeLeftOut) {
  // Two tiles of seven k-tiles in a ring of four stages, of four in one of two, and of two in one.
  omit_each<Four>(128, 256, 64 * 7);
  omit_each<Two>(128, 256, 64 * 4);
  omit_each<One>(256, 512, 64 * 2);
}

TEST(XcdOrder, DoesEachWorkOnce) {
  const auto check = [](const auto& dealt, int count) {
    std::set<int> done;
    for (int index = 0; index < count; ++index) done.insert(dealt(index, count));
    EXPECT_EQ(done.size(), static_cast<std::size_t>(count));
    EXPECT_TRUE(count == 0 || (*done.begin() == 0 && *done.rbegin() == count - 1)) << count;
  };
  for (int count = 0; count <= 1200; ++count) {
    check(dealt_to_dies<8, 16>, count);
    check(dealt_to_dies<8, 64>, count);
    check(dealt_to_dies<7, 3>, count);
  }
  // The workgroups of one die, which come every eighth, have neighbours.
  for (int index = 0; index + 8 < 512; index += 8) {
    const int own = dealt_to_dies<8, 16>(index, 512), next = dealt_to_dies<8, 16>(index + 8, 512);
    EXPECT_TRUE(next == own + 1 || own % 16 == 15) << index;
  }
}

}  // namespace
}  // namespace tw::test

extern "C" void __wrap__ZN2tw5model9s_waitcntEjj(unsigned vmcnt, unsigned lgkmcnt) {
  tw::test::wait_count(__builtin_return_address(0), vmcnt, lgkmcnt);
}
extern "C" void __wrap__ZN2tw5model9s_barrierEv() { tw::test::barrier(); }
extern "C" void __wrap__ZN2tw5model9s_setprioEj(unsigned priority) {
  tw::test::threads[tw::isa::thread_index()].last = "s_setprio";
  __real__ZN2tw5model9s_setprioEj(priority);
}
