// tilewright_fit: what the cost model's choice loses on measured candidates, and constants that
// lose less. Judged by leaving families of models out; needs no GPU.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include "src/bench/fit/fit_data.h"
#include "src/bench/fit/neutral.h"
#include "src/dispatch/cost.h"
#include "src/program.h"

namespace tw::bench {

namespace {

constexpr unsigned sms = 132;  // the H200's that was measured
constexpr double older_weight = 0.4;
constexpr int fold_count = 5;

struct Constant {
  const char* name;
  double CostConstants::*value;
};
#define TW_CONSTANT(name) \
  { #name, &CostConstants::name }
constexpr Constant constants[] = {
    TW_CONSTANT(cycles_per_us),
    TW_CONSTANT(product_cycles),
    TW_CONSTANT(alone_factor),
    TW_CONSTANT(turns_factor),
    TW_CONSTANT(wide_factor),
    TW_CONSTANT(row_cycles),
    TW_CONSTANT(received_share),
    TW_CONSTANT(straddling_factor),
    TW_CONSTANT(outside_row_cycles),
    TW_CONSTANT(outside_power),
    TW_CONSTANT(neighbour_factor),
    TW_CONSTANT(stage_cycles),
    TW_CONSTANT(span_cycles),
    TW_CONSTANT(odd_factor),
    TW_CONSTANT(stage_sharpness),
    TW_CONSTANT(sharpness),
    TW_CONSTANT(l2_bytes_per_us),
    TW_CONSTANT(dram_bytes_per_us),
    TW_CONSTANT(flop_pj),
    TW_CONSTANT(dram_byte_pj),
    TW_CONSTANT(l2_byte_pj),
    TW_CONSTANT(start_us),
    TW_CONSTANT(late_start_us),
    TW_CONSTANT(pair_us),
    TW_CONSTANT(cluster_us),
    TW_CONSTANT(last_store_us),
    TW_CONSTANT(store_us),
    TW_CONSTANT(cluster_parts_us),
    TW_CONSTANT(cluster_part_us),
    TW_CONSTANT(workspace_parts_us),
    TW_CONSTANT(workspace_part_us),
    TW_CONSTANT(joining_shown),
    TW_CONSTANT(stream_us),
    TW_CONSTANT(stream_share),
    TW_CONSTANT(ticket_factor),
    TW_CONSTANT(scaled_cycles),
    TW_CONSTANT(scaled_stage_cycles),
    TW_CONSTANT(scaled_cluster_factor),

    TW_CONSTANT(piece_cycles),
    TW_CONSTANT(swap_ab_factor),
    TW_CONSTANT(swap_ab_handling_factor),
    TW_CONSTANT(swap_ab_store_factor),
    TW_CONSTANT(swap_ab_pair_factor),
    TW_CONSTANT(swap_ab_scaled_factor),
};
#undef TW_CONSTANT

using Use = std::function<bool(const FitShape&)>;

// Sums over the shapes in use, by weight.
struct Score {
  double loss = 0;        // what is minimised
  double log_regret = 0;  // the measured launch with the lowest price over the fastest
  double log_ratio = 0;   // the peer over the fastest, where there is one
  double weight = 0, peer_weight = 0;
};

void add(Score& score, const FitShape& shape, const CostConstants& cost) {
  // The choice is as uncertain as two expected times within `blur` are alike. How wrong the times
  // of near-best launches are counts, too, for launches that nobody measured.
  constexpr double blur = 0.02, near = 0.15, error_share = 0.3, worst_loss = 1, worst_error = 0.25;
  std::vector<double> expected;
  for (const MeasuredKernel& one : shape.launches) {
    expected.push_back(
        std::log(expected_microseconds(one.kernel->facts, shape.problem, one.order, sms, 0, cost)));
  }
  const auto least = std::min_element(expected.begin(), expected.end());
  double soft = 0, soft_weight = 0, error = 0, error_weight = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double lost = std::log(shape.launches[i].microseconds / shape.best_us);
    const double chance = std::exp((*least - expected[i]) / blur);
    soft += chance * std::min(worst_loss, lost);
    soft_weight += chance;
    const double off = expected[i] - std::log(shape.launches[i].microseconds);
    error += std::exp(-lost / near) * std::min(off * off, worst_error);
    error_weight += std::exp(-lost / near);
  }
  score.loss += shape.weight * (soft / soft_weight + error_share * error / error_weight);
  const auto taken = static_cast<std::size_t>(least - expected.begin());
  score.log_regret += shape.weight * std::log(shape.launches[taken].microseconds / shape.best_us);
  score.weight += shape.weight;
  if (shape.peer_us > 0) {
    score.log_ratio += shape.weight * std::log(shape.peer_us / shape.best_us);
    score.peer_weight += shape.weight;
  }
}

Score score_of(const std::vector<FitShape>& shapes, const CostConstants& cost, const Use& use) {
  Score score;
  for (const FitShape& shape : shapes) {
    if (shape.launches.size() >= 2 && use(shape)) add(score, shape, cost);
  }
  return score;
}

// One constant after the other, by factors, held near where it began.
CostConstants fit(const std::vector<FitShape>& shapes, const CostConstants& begin, const Use& use) {
  constexpr double hold = 3e-4, first_step = 0.15, least_step = 0.003, most_step = 0.3;
  constexpr int passes = 60;
  const auto loss = [&](const CostConstants& cost) {
    const Score score = score_of(shapes, cost, use);
    double sum = score.loss / score.weight;
    for (const Constant& one : constants) {
      const double away = std::log(cost.*one.value / begin.*one.value);
      sum += hold * away * away;
    }
    return sum;
  };
  CostConstants best = begin;
  double least = loss(best);
  std::vector<double> steps(std::size(constants), first_step);
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i] < least_step) continue;
      bool moved = false;
      for (const double sign : {1.0, -1.0}) {
        CostConstants tried = best;
        tried.*constants[i].value *= std::exp(sign * steps[i]);
        const double found = loss(tried);
        if (found >= least - 1e-7) continue;
        least = found, best = tried, moved = true;
        break;
      }
      steps[i] = std::min(most_step, steps[i] * (moved ? 1.3 : 0.5));
    }
  }
  return best;
}

void print(const char* title, const Score& score) {
  if (score.weight == 0) return;
  std::printf("  %-22s %5.0f shapes  regret %.3f", title, score.weight,
              std::exp(score.log_regret / score.weight));
  if (score.peer_weight > 0) {
    std::printf("  peer / fastest %.3f", std::exp(score.log_ratio / score.peer_weight));
  }
  std::puts("");
}

void report(const std::vector<FitShape>& shapes, const CostConstants& cost) {
  std::set<std::pair<std::string, std::string>> kinds;
  for (const FitShape& shape : shapes) kinds.insert({shape.family, shape.type});
  for (const auto& [family, type] : kinds) {
    const auto in = [&](const FitShape& shape) {
      return shape.family == family && shape.type == type && shape.weight == 1;
    };
    print((family + " " + type).c_str(), score_of(shapes, cost, in));
    std::int64_t low = 0;
    for (const std::int64_t high : {4, 16, 64, 128, 256, 1024, 1 << 30}) {
      const auto title = "m " + std::to_string(low + 1) + " to " + std::to_string(high);
      print(title.c_str(), score_of(shapes, cost, [&](const FitShape& shape) {
              return in(shape) && shape.problem.m > low && shape.problem.m <= high;
            }));
      low = high;
    }
    double small = 0;
    for (const double large : {4e6, 16e6, 64e6, 1e12}) {
      char title[64];
      std::snprintf(title, sizeof(title), "n x k to %.0f million", large / 1e6);
      print(title, score_of(shapes, cost, [&](const FitShape& shape) {
              const double elements = double(shape.problem.n) * double(shape.problem.k);
              return in(shape) && elements > small && elements <= large;
            }));
      small = large;
    }
  }
  print("older files",
        score_of(shapes, cost, [](const FitShape& shape) { return shape.weight == older_weight; }));
}

// The regret of shapes whose models the constants have not seen. Each fit begins at constants that
// know nothing of those: what was fitted to all has seen them, and is held near where it begins.
// Constants that no fit moves keep their values.
void cross_validate(const std::vector<FitShape>& shapes) {
  CostConstants begin = fitted_cost;
  for (const Constant& one : constants) begin.*one.value = neutral(begin.*one.value);
  std::map<std::string, std::size_t> folds;
  for (const FitShape& shape : shapes) folds.try_emplace(shape.model, folds.size());
  std::map<std::string, Score> sums;
  for (std::size_t fold = 0; fold < fold_count; ++fold) {
    const auto is_left_out = [&](const FitShape& shape) {
      return folds.at(shape.model) % fold_count == fold;
    };
    const CostConstants cost =
        fit(shapes, begin, [&](const FitShape& shape) { return !is_left_out(shape); });
    for (const FitShape& shape : shapes) {
      if (shape.launches.size() < 2 || !is_left_out(shape)) continue;
      add(sums[shape.weight == 1 ? shape.family + " " + shape.type : "older files"], shape, cost);
    }
  }
  std::puts("left out:");
  for (const auto& [title, score] : sums) print(title.c_str(), score);
}

int run(int argc, char** argv) {
  std::vector<std::string> files, older, suites;
  bool fits = false, validates = false;
  CLI::App app{"What the cost model's choice loses on measured candidates", "tilewright_fit"};
  app.add_option("files", files, "of ./tw bench --candidates N --csv FILE")->required();
  app.add_option("--older", older, "files that weigh less: of other kernels of the same names");
  app.add_option("--suites", suites, "which tell the models that shapes are of");
  app.add_flag("--fit", fits, "prints constants that lose less");
  app.add_flag("--cross-validate", validates, "fits without some models, judges on them");
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
  std::puts("the model as it is:");
  report(shapes, fitted_cost);
  if (validates) cross_validate(shapes);
  if (!fits) return 0;
  const CostConstants found = fit(shapes, fitted_cost, [](const FitShape&) { return true; });
  std::puts("fitted:");
  report(shapes, found);
  for (const Constant& one : constants) std::printf("%s = %.4g\n", one.name, found.*one.value);
  return 0;
}

}  // namespace

}  // namespace tw::bench

int main(int argc, char** argv) {
  return tw::run_program([&] { return tw::bench::run(argc, argv); });
}
