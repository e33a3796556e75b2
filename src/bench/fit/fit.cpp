// tilewright_fit: what the cost model's choice loses on measured candidates, and an efficiency for
// each of them, with numbers of the machine, that lose less. Judged by leaving families of models
// out; needs no GPU.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include "src/bench/fit/efficiencies.h"
#include "src/bench/fit/fit_data.h"
#include "src/bench/fit/neutral.h"
#include "src/dispatch/cost.h"
#include "src/program.h"

namespace tw::bench {

namespace {

// Few shapes were measured amid foreign kernels, which is where most launches are.
constexpr double older_weight = 0.4, amid_weight = 4;
constexpr std::size_t fold_count = 5;

struct Constant {
  const char* name;
  double Machine::*value;
};
#define TW_CONSTANT(name) \
  { #name, &Machine::name }
// The first four of a Machine are the device's own.
constexpr Constant constants[] = {
    TW_CONSTANT(launch_us),    TW_CONSTANT(alone_us),        TW_CONSTANT(cluster_us),
    TW_CONSTANT(line_cycles),  TW_CONSTANT(again_share),     TW_CONSTANT(zero_line_cycles),
    TW_CONSTANT(stage_cycles), TW_CONSTANT(store_us),        TW_CONSTANT(meeting_us),
    TW_CONSTANT(joining_us),   TW_CONSTANT(sm_bytes_per_us), TW_CONSTANT(turn_us),
};
#undef TW_CONSTANT

using Use = std::function<bool(const FitShape&)>;

// Prices of a shape's launches, in their order.
using Prices = std::vector<Price>;
std::vector<Prices> prices_of(const std::vector<FitShape>& shapes, const Machine& machine,
                              const Use& use) {
  std::vector<Prices> found(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (!use(shapes[i])) continue;
    for (const MeasuredKernel& one : shapes[i].launches) {
      const KernelFacts& facts = one.kernel->facts;
      const MatmulProblem product = product_of(facts.config.tiling, shapes[i].problem);
      found[i].push_back(price_of(facts, product, one.order, machine, shapes[i].situation));
    }
  }
  return found;
}

// How much a launch counts for errors of its time: the more the nearer it is to the fastest.
double nearness(const FitShape& shape, const MeasuredKernel& one) {
  constexpr double near = 0.15;
  return std::exp(-std::log(one.microseconds / shape.best_us) / near);
}

// Sums over shapes, by weight.
struct Score {
  double loss = 0;        // what is minimised
  double log_regret = 0;  // the measured launch with the lowest price over the fastest
  double log_ratio = 0;   // the peer over the fastest, where there is one
  double log_taken = 0;   // the peer over the one with the lowest price
  double weight = 0, peer_weight = 0;
  int count = 0;
  double highest = 0;  // the highest log regret, and of which shape
  std::string of_shape;
};

void add(Score& score, const FitShape& shape, const Prices& prices,
         const Efficiencies& efficiencies) {
  // The choice is as uncertain as two expected times within `blur` are alike. How wrong the times
  // of near-best launches are counts, too, for launches that nobody measured.
  constexpr double blur = 0.02, error_share = 0.3, worst_loss = 1, worst_error = 0.25;
  std::vector<double> expected;
  for (std::size_t i = 0; i < prices.size(); ++i) {
    expected.push_back(std::log(prices[i].microseconds(efficiencies.at(shape.launches[i].kernel))));
  }
  const auto least = std::min_element(expected.begin(), expected.end());
  double soft = 0, soft_weight = 0, error = 0, error_weight = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const MeasuredKernel& one = shape.launches[i];
    const double lost = std::log(one.microseconds / shape.best_us);
    const double chance = std::exp((*least - expected[i]) / blur), near = nearness(shape, one);
    soft += chance * std::min(worst_loss, lost);
    soft_weight += chance;
    const double off = expected[i] - std::log(one.microseconds);
    error += near * std::min(off * off, worst_error);
    error_weight += near;
  }
  score.loss += shape.weight * (soft / soft_weight + error_share * error / error_weight);
  const MeasuredKernel& taken = shape.launches[static_cast<std::size_t>(least - expected.begin())];
  const double regret = std::log(taken.microseconds / shape.best_us);
  score.log_regret += shape.weight * regret;
  score.weight += shape.weight;
  ++score.count;
  if (regret > score.highest) {
    score.highest = regret;
    score.of_shape = std::to_string(shape.problem.m) + " x " + std::to_string(shape.problem.n) +
                     " x " + std::to_string(shape.problem.k) + " by " + taken.kernel->name;
  }
  if (shape.peer_us > 0) {
    score.log_ratio += shape.weight * std::log(shape.peer_us / shape.best_us);
    score.log_taken += shape.weight * std::log(shape.peer_us / taken.microseconds);
    score.peer_weight += shape.weight;
  }
}

Score score_of(const std::vector<FitShape>& shapes, const std::vector<Prices>& prices,
               const Efficiencies& efficiencies, const Use& use) {
  Score score;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (use(shapes[i])) add(score, shapes[i], prices[i], efficiencies);
  }
  return score;
}

// Efficiencies whose prices come nearest to the times that were measured, few data near those of
// the kernel's like: Newton's steps.
void settle(Efficiencies& efficiencies, const std::vector<FitShape>& shapes,
            const std::vector<Prices>& prices, const Use& use, int steps) {
  constexpr double held = 8, most = 0.5, step = 1.001;
  while (steps-- > 0) {
    std::map<const KnownKernel*, Slope> slopes;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (!use(shapes[i])) continue;
      for (std::size_t j = 0; j < prices[i].size(); ++j) {
        const MeasuredKernel& one = shapes[i].launches[j];
        const double efficiency = efficiencies.at(one.kernel);
        const double expected = prices[i][j].microseconds(efficiency);
        const double change =
            std::log(prices[i][j].microseconds(efficiency * step) / expected) / std::log(step);
        const double off = std::clamp(std::log(one.microseconds / expected), -most, most);
        const double weight = nearness(shapes[i], one) * shapes[i].weight;
        slopes[one.kernel].off += weight * off * change;
        slopes[one.kernel].change += weight * change * change;
      }
    }
    move(efficiencies, slopes, held);
  }
}

// One efficiency after the other by what the choice loses, held near where it began.
void polish(Efficiencies& efficiencies, const std::vector<FitShape>& shapes,
            const std::vector<Prices>& prices, const Use& use) {
  constexpr double hold = 10;
  const Efficiencies began = efficiencies;
  std::map<const KnownKernel*, std::set<std::size_t>> of;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (!use(shapes[i])) continue;
    for (const MeasuredKernel& one : shapes[i].launches) of[one.kernel].insert(i);
  }
  for (int pass = 0; pass < 3; ++pass) {
    for (const auto& [kernel, places] : of) {
      double& mine = efficiencies.at(kernel);
      const auto loss = [&](double tried) {
        const double kept = mine, away = std::log(tried / began.at(kernel));
        mine = tried;
        Score score;
        for (const std::size_t i : places) add(score, shapes[i], prices[i], efficiencies);
        mine = kept;
        return score.loss + hold * away * away;
      };
      double least = loss(mine);
      for (const double step : {0.04, -0.04, 0.02, -0.02, 0.01, -0.01, 0.005, -0.005}) {
        const double tried = std::min(1.0, mine * std::exp(step)), found = loss(tried);
        if (found < least - 1e-6) least = found, mine = tried;
      }
    }
  }
}

// One number of the machine after the other, by factors, with efficiencies that follow.
void fit(Machine& machine, Efficiencies& efficiencies, const std::vector<FitShape>& shapes,
         const Use& use, int passes) {
  constexpr double first_step = 0.2, least_step = 0.01, most_step = 0.3;
  std::vector<Prices> prices;
  const auto loss = [&](const Machine& tried, Efficiencies& followed, int steps) {
    prices = prices_of(shapes, tried, use);
    settle(followed, shapes, prices, use, steps);
    const Score score = score_of(shapes, prices, followed, use);
    return score.loss / score.weight;
  };
  double least = loss(machine, efficiencies, 6);
  std::vector<double> steps(std::size(constants), first_step);
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i] < least_step) continue;
      bool moved = false;
      for (const double sign : {1.0, -1.0}) {
        Machine tried = machine;
        Efficiencies followed = efficiencies;
        tried.*constants[i].value *= std::exp(sign * steps[i]);
        const double found = loss(tried, followed, 2);
        if (found >= least - 1e-6) continue;
        least = found, machine = tried, efficiencies = followed, moved = true;
        break;
      }
      steps[i] = std::min(most_step, steps[i] * (moved ? 1.3 : 0.5));
    }
  }
  prices = prices_of(shapes, machine, use);
  polish(efficiencies, shapes, prices, use);
}

std::string title_of(const FitShape& shape) {
  if (shape.situation == Situation::Amid) return shape.family + " " + shape.type + ", amid";
  return shape.weight == 1 ? shape.family + " " + shape.type : "older files";
}

void print(const std::map<std::string, Score>& scores) {
  for (const auto& [title, score] : scores) {
    std::printf("  %-22s %5d shapes  regret %.3f  highest %.2f (%s)", title.c_str(), score.count,
                std::exp(score.log_regret / score.weight), std::exp(score.highest),
                score.of_shape.c_str());
    if (score.peer_weight > 0) {
      std::printf("  peer / taken %.3f, / fastest %.3f",
                  std::exp(score.log_taken / score.peer_weight),
                  std::exp(score.log_ratio / score.peer_weight));
    }
    std::puts("");
  }
}

void report(const std::vector<FitShape>& shapes, const Machine& machine,
            const Efficiencies& efficiencies) {
  const auto all = [](const FitShape&) { return true; };
  const std::vector<Prices> prices = prices_of(shapes, machine, all);
  std::map<std::string, Score> scores;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    add(scores[title_of(shapes[i])], shapes[i], prices[i], efficiencies);
  }
  print(scores);
}

// The regret of shapes whose models nothing has seen: each fit begins at numbers, and at
// efficiencies, that no fit found.
void cross_validate(const std::vector<FitShape>& shapes, int passes) {
  Machine begin;
  for (const Constant& one : constants) begin.*one.value = neutral(begin.*one.value);
  std::map<std::string, std::size_t> folds;
  for (const FitShape& shape : shapes) folds.try_emplace(shape.model, folds.size());
  std::map<std::string, Score> scores;
  for (std::size_t fold = 0; fold < fold_count; ++fold) {
    const auto is_left_out = [&](const FitShape& shape) {
      return folds.at(shape.model) % fold_count == fold;
    };
    Machine machine = begin;
    Efficiencies efficiencies = usual_efficiencies(shapes);
    fit(
        machine, efficiencies, shapes, [&](const FitShape& one) { return !is_left_out(one); },
        passes);
    const std::vector<Prices> prices = prices_of(shapes, machine, is_left_out);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (!prices[i].empty()) add(scores[title_of(shapes[i])], shapes[i], prices[i], efficiencies);
    }
  }
  std::puts("left out:");
  print(scores);
}

int run(int argc, char** argv) {
  std::vector<std::string> files, older, suites;
  std::string families;
  bool fits = false, validates = false;
  int passes = 20;
  CLI::App app{"What the cost model's choice loses on measured candidates", "tilewright_fit"};
  app.add_option("files", files, "of ./tw bench --candidates N --csv FILE, also with --between")
      ->required();
  app.add_option("--older", older, "files that weigh less: of other kernels of the same names");
  app.add_option("--suites", suites, "which tell the models that shapes are of");
  app.add_flag("--fit", fits, "prints numbers of the machine that lose less, with efficiencies");
  app.add_option("--write", families,
                 "the folder of families; efficiencies go into their instances.txt");
  app.add_flag("--cross-validate", validates, "fits without some models, judges on them");
  app.add_option("--passes", passes, "over the numbers of the machine; 0: efficiencies alone");
  CLI11_PARSE(app, argc, argv);
  const std::vector<KnownKernel> kernels = known_kernels();
  Origins origins;
  std::vector<FitShape> shapes;
  Status status = Status::good();
  for (const std::string& suite : suites) {
    if (status.is_good()) status = read_origins(origins, suite);
  }
  const auto read = [&](const std::vector<std::string>& paths, double weight) {
    for (const std::string& path : paths) {
      if (!status.is_good()) return;
      status = read_measurements(shapes, path, kernels, origins, weight);
    }
  };
  read(files, 1);
  read(older, older_weight);
  if (!status.is_good()) {
    std::fprintf(stderr, "%s\n", status.sentence().c_str());
    return 1;
  }
  std::erase_if(shapes, [](const FitShape& shape) { return shape.launches.size() < 2; });
  for (FitShape& shape : shapes) {
    if (shape.situation == Situation::Amid) shape.weight *= amid_weight;
  }
  const auto all = [](const FitShape&) { return true; };
  Machine machine;
  Efficiencies efficiencies = known_efficiencies(kernels);
  std::puts("the model as it is:");
  report(shapes, machine, efficiencies);
  if (validates) cross_validate(shapes, passes);
  if (!fits) return 0;
  fit(machine, efficiencies, shapes, all, passes);
  std::puts("fitted:");
  report(shapes, machine, efficiencies);
  for (const Constant& one : constants) std::printf("%s = %.3g\n", one.name, machine.*one.value);
  if (families.empty()) return 0;
  status = write_efficiencies(families, shapes, efficiencies);
  if (!status.is_good()) std::fprintf(stderr, "%s\n", status.sentence().c_str());
  return status.is_good() ? 0 : 1;
}

}  // namespace

}  // namespace tw::bench

int main(int argc, char** argv) {
  return tw::run_program([&] { return tw::bench::run(argc, argv); });
}
