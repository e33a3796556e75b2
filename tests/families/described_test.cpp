// Every described family on the virtual GPU against its reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "src/families/quantise.h"
#include "src/instances/structure.h"
#include "src/verify/trials.h"
#include "src/verify/virtual.h"
#include "tests/families/schedule.h"
#include "tests/families/seed.h"
#include "vgpu/timeline.h"

namespace tw::tests {
namespace {

void expect_clean(const Case& made, std::uint64_t seed) {
  const VirtualRun run = run_virtually(Verified(made), schedule(seed, made.instance->cluster));
  ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
}

TEST(Described, RandomProblemsOfEveryInstance) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  const char* count = std::getenv("TW_DESCRIBED_PROBLEMS");
  for (const Trial* trial : all_trials()) {
    const std::span<const Instance> instances = trial->instances();
    const std::size_t usual = std::max<std::size_t>(400, 3 * instances.size());
    const std::size_t problems = count != nullptr ? std::strtoull(count, nullptr, 10) : usual;
    std::map<std::string, int> of_target;
    for (std::size_t i = 0; i < problems; ++i) {
      const Instance& instance = instances[i % instances.size()];
      Case made = random_case(*trial, instance, random);
      try_far(made, random);
      expect_clean(made, random());
      if (HasFatalFailure()) return;
      ++of_target[instance.target];
    }
    if (count != nullptr) continue;
    for (const Instance& instance : instances) {
      EXPECT_GE(of_target[instance.target], 10)
          << trial->description->name << " on " << instance.target;
    }
  }
}

// Offsets of lines do not fit 32 bits, in every family: 12 instances of each, with the first of 20
// problems that they take.
TEST(Described, TakesLinesThatAreFarApart) {
  Random random(base_seed());
  for (const Trial* trial : all_trials()) {
    const std::span<const Instance> instances = trial->instances();
    const std::size_t step = std::max<std::size_t>(1, instances.size() / 12);
    int taken = 0;
    for (std::size_t index = 0; index < instances.size(); index += step) {
      for (int tries = 0; tries < 20; ++tries) {
        Case made = random_case(*trial, instances[index], random, 200);
        made.unaligned = false;
        made.spacing = Spacing::Far;
        if (!serves(made).is_good()) continue;
        expect_clean(made, random());
        if (HasFatalFailure()) return;
        ++taken;
        break;
      }
    }
    EXPECT_GT(taken, 0) << trial->description->name;
  }
}

// Every extent that may be nothing or one is that, with some 20 instances of each family.
TEST(Described, TakesNothingAndOne) {
  for (const Trial* trial : all_trials()) {
    int ran = 0, asked = 0;
    const std::span<const Instance> instances = trial->instances();
    const std::size_t step = std::max<std::size_t>(1, instances.size() / 20);
    for (std::size_t index = 0; index < instances.size(); index += step) {
      const Instance& instance = instances[index];
      for (const std::int64_t value : {0, 1}) {
        const auto expect_with = [&](const auto& set) {
          Case made = usual_case(*trial, instance);
          set(made);
          ++asked;
          if (!serves(made).is_good()) return;
          ++ran;
          expect_clean(made, 1);
        };
        for (const IntegerField& number : trial->description->numbers) {
          expect_with([&](Case& made) { number.set(made.problem.data(), value); });
          if (HasFatalFailure()) return;
        }
        for (std::size_t i = 0; i < trial->description->lists.size(); ++i) {
          expect_with([&](Case& made) { made.lists[i].assign(made.lists[i].size(), value); });
          expect_with([&](Case& made) { made.lists[i].clear(); });
          if (HasFatalFailure()) return;
        }
      }
    }
    // Some numbers may be neither; a family that takes hardly any such problem is not tested here.
    EXPECT_GE(10 * ran, asked) << trial->description->name << ": " << ran << " of " << asked;
  }
}

// What is read off the types is what the virtual GPU meets, with some instances of each target.
TEST(Described, StructuresAreWhatRunsShow) {
  unsigned compared = 0;
  Random random(base_seed());
  for (const Trial* trial : all_trials()) {
    std::map<std::string, unsigned> of_target;
    for (const Instance& instance : trial->instances()) {
      ASSERT_NE(structure_named(instance.name), nullptr) << instance.name;
      const Structure& structure = *structure_named(instance.name);
      for (const Structure::Signal& signal : structure.signals) {
        unsigned arrivals = 0;
        for (const RoleArrivals& entry : signal.arrive) arrivals += entry.arrivals;
        EXPECT_EQ(arrivals * signal.ctas, signal.arrivals) << instance.name << signal.name;
      }
      unsigned end = 0;
      for (const Structure::Piece& piece : structure.memory) {
        EXPECT_GE(piece.offset, end) << instance.name << piece.name;
        end = piece.offset + piece.bytes;
      }
      EXPECT_LE(end, structure.shared_bytes) << instance.name;
      if (++of_target[instance.target] > 3) continue;
      Case made = usual_case(*trial, instance);
      if (!serves(made).is_good()) made = random_case(*trial, instance, random);
      vgpu::Timeline timeline;
      {
        const vgpu::Recording recording(timeline);
        expect_clean(made, 1);
      }
      if (HasFatalFailure()) return;
      for (const vgpu::Timeline::Phase& phase : timeline.phases) {
        const auto signal =
            std::find_if(structure.signals.begin(), structure.signals.end(),
                         [&](const auto& one) { return one.name == phase.barrier; });
        ASSERT_NE(signal, structure.signals.end()) << instance.name << phase.barrier;
        ASSERT_EQ(phase.arrivals, signal->arrivals) << instance.name << phase.barrier;
        ASSERT_EQ(phase.bytes, signal->bytes) << instance.name << phase.barrier;
        ASSERT_LT(static_cast<unsigned>(phase.stage), signal->count) << instance.name;
        ++compared;
      }
      for (const vgpu::Timeline::Track& track : timeline.tracks) {
        EXPECT_TRUE(std::any_of(structure.roles.begin(), structure.roles.end(),
                                [&](auto& played) {
                                  return track.role.starts_with(played.role.name) &&
                                         track.thread / structure.lanes - played.first_warp <
                                             played.warps;
                                }))
            << instance.name << ": " << track.role << " by thread " << track.thread;
      }
    }
  }
  EXPECT_GT(compared, 100u);
}

// A case is what its line says.
TEST(Described, LinesRepeatEveryField) {
  Random random(base_seed());
  for (const Trial* trial : all_trials()) {
    const Case first = random_case(*trial, trial->instances()[0], random);
    for (std::size_t i = 0; i < first.lists.size(); ++i) {
      Case other = first;
      if (other.lists[i].empty()) other.lists[i].push_back(0);
      ++other.lists[i].front();
      EXPECT_NE(run_line(other), run_line(first)) << trial->description->lists[i].name;
    }
    for (const IntegerField& number : trial->description->numbers) {
      if (number.kind == IntegerField::Kind::Derived) continue;
      Case other = first;
      number.set(other.problem.data(), number.get(first.problem.data()) == 0 ? 1 : 0);
      EXPECT_NE(run_line(other), run_line(first)) << number.name;
    }
    for (const RealField& real : trial->description->reals) {
      Case other = first;
      const auto value = static_cast<float>(real.get(first.problem.data()));
      real.set(other.problem.data(), std::nextafter(value, std::numeric_limits<float>::max()));
      EXPECT_NE(run_line(other), run_line(first)) << real.name;
    }
    for (const TensorField& tensor : trial->description->tensors) {
      if (!tensor.optional) continue;
      Case other = first;
      tw_matrix matrix = tensor.get(first.problem.data());
      matrix.data = matrix.data == nullptr ? some_address() : nullptr;
      tensor.set(other.problem.data(), matrix);
      EXPECT_NE(run_line(other), run_line(first)) << tensor.name;
    }
  }
}

TEST(Described, QuantiseRefusesTheOtherShapeOfBlocks) {
  for (const Instance& instance : quantise_instances()) {
    Case made = usual_case(quantise_trial, instance);
    auto& problem = made.problem.as<tw_quantise_problem>();
    const auto refusal = [&] {
      return run_virtually(Verified(made), schedule(1)).status.sentence();
    };
    if (QuantiseFamily::copies(problem)) {
      problem.scale_rows = 1;
      problem.elements.type = TW_E4M3;
      EXPECT_EQ(refusal(), "This kernel copies: it makes no scales.");
      continue;
    }
    std::int64_t& rows = problem.scale_rows;
    rows = 129 - rows;
    EXPECT_EQ(refusal(), rows == 128 ? "A scale is of 128 rows; this kernel makes one for 1."
                                     : "A scale is of 1 rows; this kernel makes one for 128.");
    rows = 0;
    problem.elements.type = problem.source.type;
    EXPECT_EQ(refusal(), "This kernel makes scales.");
  }
}

}  // namespace
}  // namespace tw::tests
