#include "src/bench/harness/tune.h"

#include <algorithm>
#include <cstdio>

#include "src/bench/harness/own.h"
#include "src/bench/harness/tuned.h"

namespace tw::bench {

namespace {

constexpr double looking_slice_milliseconds = 1;
constexpr double near_the_fastest = 1.3;
constexpr std::size_t most_finalists = 8;

// What is measured twice; the first is the usual choice.
struct Contest {
  std::vector<MeasuredLaunch> launches;
  std::function<std::vector<Measurement>(unsigned pass)> measure;
  std::string refused;
};

std::vector<Measurement> measure(const std::vector<Choice>& launches, const Buffers& memory,
                                 int rounds, double slice_milliseconds, unsigned seed) {
  std::vector<Candidate> all;
  for (const Choice& launch : launches) all.push_back(candidate_of(launch, memory));
  return interleave(all, memory.sets(), rounds, slice_milliseconds, seed);
}

// Those that a short look finds near the fastest, fastest first.
std::vector<Choice> finalists(const std::vector<Choice>& launches, const Buffers& memory) {
  const auto looks = measure(launches, memory, 3, looking_slice_milliseconds, 1);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    if (looks[i].ran()) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&looks](std::size_t a, std::size_t b) {
    return looks[a].median_us < looks[b].median_us;
  });
  std::vector<Choice> kept;
  for (const std::size_t i : order) {
    const bool is_near = looks[i].median_us < near_the_fastest * looks[order[0]].median_us;
    if (is_near && kept.size() < most_finalists) kept.push_back(launches[i]);
  }
  return kept;
}

bool is_same(const Choice& a, const Choice& b) {
  return a.instance == b.instance && a.order.split_k == b.order.split_k &&
         a.order.group == b.order.group && a.order.raster == b.order.raster;
}

Contest contest_of(const MeasuredCall& call, const TuneSettings& settings) {
  const Buffers memory(call.what, 1);
  const Checked& problem = memory.checked(0);
  DispatchRequest dispatch = dispatch_request();
  dispatch.by_table = settings.by_table;
  Contest contest;
  Choice usual;
  const Status status = choose_for(usual, problem, dispatch);
  if (!status.is_good()) {
    contest.refused = status.sentence();
    return contest;
  }
  std::vector<Choice> kept = finalists(launches_of(problem, dispatch), memory);
  if (!settings.groups.empty()) {
    for (const Choice& launch : with_groups(kept, settings.groups)) kept.push_back(launch);
    kept = finalists(kept, memory);
  }
  std::vector<Choice> launches = {usual};
  for (const Choice& launch : kept) {
    if (!is_same(launch, usual)) launches.push_back(launch);
  }
  for (const Choice& launch : launches) {
    contest.launches.push_back({call.words, launch.instance->name, launch.order.split_k,
                                launch.order.group, launch.order.raster});
  }
  contest.measure = [call, launches, settings](unsigned pass) {
    const Buffers again(call.what, 1 + pass);
    return measure(launches, again, settings.rounds, settings.slice_milliseconds, 1 + pass);
  };
  return contest;
}

}  // namespace

std::vector<MeasuredLaunch> tune(const std::vector<MeasuredCall>& calls,
                                 const TuneSettings& settings) {
  std::vector<Contest> contests;
  std::vector<std::vector<Measurement>> passes[2];
  for (const MeasuredCall& call : calls) contests.push_back(contest_of(call, settings));
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
