#include "src/bench/tune.h"

#include <algorithm>
#include <cstdio>

#include "src/bench/own.h"

namespace tw::bench {

namespace {

constexpr double looking_slice_milliseconds = 1;
constexpr double near_the_fastest = 1.3;
constexpr std::size_t most_finalists = 8;

// What is measured twice; the first is the model's choice.
struct Contest {
  MatmulCase shape;
  std::vector<Choice> choices;
  std::string refused;
};

std::vector<Measurement> measure(const std::vector<Choice>& choices, const MatmulBuffers& buffers,
                                 int rounds, double slice_milliseconds, unsigned seed) {
  std::vector<Candidate> candidates;
  for (const Choice& choice : choices) candidates.push_back(candidate_of(choice, buffers));
  return interleave(candidates, buffers.sets(), rounds, slice_milliseconds, seed);
}

std::vector<Choice> with_groups(const std::vector<Choice>& choices,
                                const std::vector<int>& groups) {
  std::vector<Choice> all = choices;
  for (const Choice& choice : choices) {
    for (const int group : groups) {
      for (const Raster raster : {Raster::AlongM, Raster::AlongN}) {
        all.push_back(choice);
        all.back().order.group = group;
        all.back().order.raster = raster;
      }
    }
  }
  return all;
}

// Those that a short look finds near the fastest, fastest first.
std::vector<Choice> finalists(const std::vector<Choice>& choices, const MatmulBuffers& buffers) {
  const auto looks = measure(choices, buffers, 3, looking_slice_milliseconds, 1);
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
    if (is_near && kept.size() < most_finalists) kept.push_back(choices[i]);
  }
  return kept;
}

bool is_same(const Choice& a, const Choice& b) {
  return a.instance == b.instance && a.order.split_k == b.order.split_k &&
         a.order.group == b.order.group && a.order.raster == b.order.raster;
}

Contest contest_of(const MatmulCase& shape, const std::vector<int>& groups) {
  const MatmulBuffers buffers(shape, 1);
  DispatchRequest dispatch = dispatch_request();
  dispatch.by_table = false;
  Contest contest = {shape, {}, ""};
  Choice model;
  const Status status = choose(model, buffers.problem(0), dispatch, nullptr);
  if (!status.is_good()) {
    contest.refused = status.sentence();
    return contest;
  }
  std::vector<Choice> kept = finalists(candidates(buffers.problem(0), dispatch, nullptr), buffers);
  if (!groups.empty()) kept = finalists(with_groups(kept, groups), buffers);
  contest.choices.push_back(model);
  for (const Choice& choice : kept) {
    if (!is_same(choice, model)) contest.choices.push_back(choice);
  }
  return contest;
}

TunedEntry entry_of(const MatmulCase& shape, const Choice& choice, double gain) {
  return {tw::name_of(shape.type),
          shape.m,
          shape.n,
          shape.k,
          choice.instance->name,
          choice.order.split_k,
          choice.order.group,
          choice.order.raster == Raster::AlongM ? 'm' : 'n',
          gain};
}

}  // namespace

std::vector<TunedEntry> tune(const std::vector<MatmulCase>& shapes, const std::vector<int>& groups,
                             int rounds, double slice_milliseconds, bool each) {
  std::vector<Contest> contests;
  std::vector<std::vector<Measurement>> passes[2];
  for (const MatmulCase& shape : shapes) contests.push_back(contest_of(shape, groups));
  for (unsigned pass = 0; pass < 2; ++pass) {
    for (const Contest& contest : contests) {
      if (!contest.refused.empty()) {
        passes[pass].emplace_back();
        continue;
      }
      const MatmulBuffers buffers(contest.shape, 1 + pass);
      passes[pass].push_back(
          measure(contest.choices, buffers, rounds, slice_milliseconds, 1 + pass));
    }
  }
  std::vector<TunedEntry> entries;
  for (std::size_t i = 0; i < contests.size(); ++i) {
    const Contest& contest = contests[i];
    if (!contest.refused.empty()) {
      std::printf("%-22s refused: %s\n", contest.shape.text().c_str(), contest.refused.c_str());
      continue;
    }
    const Measurement& model = passes[0][i][0];
    std::printf("%-22s %-28s %10.2f us", contest.shape.text().c_str(), model.name.c_str(),
                model.median_us);
    if (const auto found = find_exception(passes[0][i], passes[1][i], 0)) {
      const Measurement& better = passes[0][i][found->candidate];
      entries.push_back(entry_of(contest.shape, contest.choices[found->candidate], found->gain));
      std::printf(", but %-28s %10.2f us, %.3f x", better.name.c_str(), better.median_us,
                  found->gain);
    }
    std::printf("\n");
    for (std::size_t j = 0; each && j < contest.choices.size(); ++j) {
      std::printf("  %-40s %10.2f %10.2f us\n", passes[0][i][j].name.c_str(),
                  passes[0][i][j].median_us, passes[1][i][j].median_us);
    }
  }
  return entries;
}

}  // namespace tw::bench
