#include "src/bench/tune.h"

#include <algorithm>
#include <cstdio>

#include "src/bench/blockwise.h"
#include "src/bench/conv2d_own.h"
#include "src/bench/own.h"
#include "src/bench/tuned.h"
#include "src/dispatch/conv2d.h"

namespace tw::bench {

namespace {

constexpr double looking_slice_milliseconds = 1;
constexpr double near_the_fastest = 1.3;
constexpr std::size_t most_finalists = 8;

// Of each family: the memory of one call, its problem, and launches on it.
struct Products {
  using Launch = Choice;
  struct Memory {
    Memory(const MeasuredCall& call, unsigned seed) : buffers(call.product, seed) {}
    MatmulBuffers buffers;
  };
  static Checked problem(const Memory& memory) { return memory.buffers.checked(0); }
  static Candidate candidate(const Launch& launch, const Memory& memory) {
    return candidate_of(launch, memory.buffers);
  }
};

// family blockwise: begin
struct ScaledProducts {
  using Launch = LaunchChoice<Instance>;
  struct Memory {
    Memory(const MeasuredCall& call, unsigned seed)
        : buffers(call.product, seed),
          scales(call.product, Major::MN),
          problems(scales.problems(buffers)) {}
    MatmulBuffers buffers;
    BlockwiseScales scales;
    BlockwiseProblems problems;
  };
  static const BlockwiseProblems& problem(const Memory& memory) { return memory.problems; }
  static Candidate candidate(const Launch& launch, const Memory& memory) {
    return candidate_of(launch, memory.problems);
  }
};
Status choose(LaunchChoice<Instance>& choice, const BlockwiseProblems& problems,
              const DispatchRequest& request, std::nullptr_t) {
  if (!problems->status.is_good()) return problems->status;
  return choose_product<blockwise_instances>(choice, problems->checked[0], request, nullptr);
}
std::vector<LaunchChoice<Instance>> candidates(const BlockwiseProblems& problems,
                                               const DispatchRequest& request, std::nullptr_t) {
  return launches_of(problems, request);
}
// family blockwise: end

// family conv2d: begin
struct Convolutions {
  using Launch = LaunchChoice<Instance>;
  struct Memory {
    Memory(const MeasuredCall& call, unsigned seed) : buffers(call.convolution, seed) {}
    Conv2dBuffers buffers;
  };
  static StatedConv2d problem(const Memory& memory) { return {memory.buffers, {}}; }
  static Candidate candidate(const Launch& launch, const Memory& memory) {
    return candidate_of(launch, memory.buffers, Conv2dEpilogue{});
  }
};
// family conv2d: end

// What is measured twice; the first is the usual choice.
struct Contest {
  std::vector<MeasuredLaunch> launches;
  std::function<std::vector<Measurement>(unsigned pass)> measure;
  std::string refused;
};

template <class Family, class Launch = typename Family::Launch>
std::vector<Measurement> measure(const std::vector<Launch>& launches,
                                 const typename Family::Memory& memory, int rounds,
                                 double slice_milliseconds, unsigned seed) {
  std::vector<Candidate> all;
  for (const Launch& launch : launches) all.push_back(Family::candidate(launch, memory));
  return interleave(all, memory.buffers.sets(), rounds, slice_milliseconds, seed);
}

template <class Launch>
std::vector<Launch> with_groups(const std::vector<Launch>& launches,
                                const std::vector<int>& groups) {
  std::vector<Launch> all = launches;
  for (const Launch& launch : launches) {
    for (const int group : groups) {
      for (const Raster raster : {Raster::AlongM, Raster::AlongN}) {
        all.push_back(launch);
        all.back().order.group = group;
        all.back().order.raster = raster;
      }
    }
  }
  return all;
}

// Those that a short look finds near the fastest, fastest first.
template <class Family, class Launch = typename Family::Launch>
std::vector<Launch> finalists(const std::vector<Launch>& launches,
                              const typename Family::Memory& memory) {
  const auto looks = measure<Family>(launches, memory, 3, looking_slice_milliseconds, 1);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    if (looks[i].ran()) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&looks](std::size_t a, std::size_t b) {
    return looks[a].median_us < looks[b].median_us;
  });
  std::vector<Launch> kept;
  for (const std::size_t i : order) {
    const bool is_near = looks[i].median_us < near_the_fastest * looks[order[0]].median_us;
    if (is_near && kept.size() < most_finalists) kept.push_back(launches[i]);
  }
  return kept;
}

template <class Launch>
bool is_same(const Launch& a, const Launch& b) {
  return a.instance == b.instance && a.order.split_k == b.order.split_k &&
         a.order.group == b.order.group && a.order.raster == b.order.raster;
}

template <class Family, class Launch = typename Family::Launch>
Contest contest_of(const MeasuredCall& call, const TuneSettings& settings) {
  const typename Family::Memory memory(call, 1);
  const auto problem = Family::problem(memory);
  DispatchRequest dispatch = dispatch_request();
  dispatch.by_table = settings.by_table;
  Contest contest;
  Launch usual;
  const Status status = choose(usual, problem, dispatch, nullptr);
  if (!status.is_good()) {
    contest.refused = status.sentence();
    return contest;
  }
  std::vector<Launch> kept = finalists<Family>(candidates(problem, dispatch, nullptr), memory);
  if (!settings.groups.empty()) {
    kept = finalists<Family>(with_groups(kept, settings.groups), memory);
  }
  std::vector<Launch> launches = {usual};
  for (const Launch& launch : kept) {
    if (!is_same(launch, usual)) launches.push_back(launch);
  }
  for (const Launch& launch : launches) {
    contest.launches.push_back({call.words, launch.instance->name, launch.order.split_k,
                                launch.order.group, launch.order.raster});
  }
  contest.measure = [call, launches, settings](unsigned pass) {
    const typename Family::Memory again(call, 1 + pass);
    return measure<Family>(launches, again, settings.rounds, settings.slice_milliseconds, 1 + pass);
  };
  return contest;
}

Contest any_contest_of(const MeasuredCall& call, const TuneSettings& settings) {
  // family blockwise: begin
  if (call.family == "blockwise") return contest_of<ScaledProducts>(call, settings);
  // family blockwise: end
  // family conv2d: begin
  if (call.family == "conv2d") return contest_of<Convolutions>(call, settings);
  // family conv2d: end
  return contest_of<Products>(call, settings);
}

}  // namespace

std::vector<MeasuredLaunch> tune(const std::vector<MeasuredCall>& calls,
                                 const TuneSettings& settings) {
  std::vector<Contest> contests;
  std::vector<std::vector<Measurement>> passes[2];
  for (const MeasuredCall& call : calls) contests.push_back(any_contest_of(call, settings));
  for (unsigned pass = 0; pass < 2; ++pass) {
    for (const Contest& contest : contests) {
      passes[pass].push_back(contest.refused.empty() ? contest.measure(pass)
                                                     : std::vector<Measurement>{});
    }
  }
  std::vector<MeasuredLaunch> found;
  for (std::size_t i = 0; i < contests.size(); ++i) {
    const Contest& contest = contests[i];
    const std::vector<Measurement>&first = passes[0][i], &second = passes[1][i];
    if (!contest.refused.empty()) {
      std::printf("%-36s refused: %s\n", calls[i].words.c_str(), contest.refused.c_str());
      continue;
    }
    std::printf("%-36s %-28s %10.2f us", calls[i].words.c_str(), first[0].name.c_str(),
                first[0].median_us);
    if (const auto better = find_exception(first, second, 0)) {
      found.push_back(contest.launches[better->candidate]);
      found.back().gain = better->gain;
      std::printf(", but %-28s %10.2f us, %.3f x", first[better->candidate].name.c_str(),
                  first[better->candidate].median_us, better->gain);
    }
    std::printf("\n");
    for (std::size_t j = 0; settings.each && j < first.size(); ++j) {
      std::printf("  %-40s %10.2f %10.2f us\n", first[j].name.c_str(), first[j].median_us,
                  second[j].median_us);
    }
  }
  return found;
}

}  // namespace tw::bench
