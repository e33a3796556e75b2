// ./tw bench grouped: our grouped products beside our own product of one matrix with all rows,
// scaled by the tiles that groups need. bench/grouped_torch.py has torch's.
#include "src/run/grouped.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "src/bench/device.h"
#include "src/bench/fill.h"
#include "src/bench/grouped_case.h"
#include "src/bench/own.h"
#include "src/bench/request.h"
#include "src/matmul/gpu.h"
#include "tilewright/host/grouped.h"

namespace tw::bench {

namespace {

struct Request {
  std::string family;
  std::vector<std::string> shapes;
  std::uint64_t seed = 1;
  std::string instances = "all";
  int rounds = 11;
  double slice = final_slice_milliseconds;
  std::string json;
};

void add_options(CLI::App& app, Request& request) {
  app.add_option("family", request.family, "grouped")->required();
  app.add_option("--shape", request.shapes,
                 "GROUPSxROWSxNxK; may be repeated; without it, eight usual ones");
  app.add_option("--seed", request.seed, "of the sizes of groups")->capture_default_str();
  app.add_option("--instances", request.instances,
                 "the fastest of the instances whose name contains one of these, or all")
      ->capture_default_str();
  app.add_option("--rounds", request.rounds)->check(CLI::Range(3, 1000));
  app.add_option("--slice", request.slice, "milliseconds of a candidate in each round")
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", request.json, "also write everything there");
}

Status read_cases(std::vector<GroupedCase>& cases, const Request& request) {
  cases = request.shapes.empty() ? usual_grouped_cases() : std::vector<GroupedCase>{};
  for (const std::string& text : request.shapes) {
    long long groups = 0, rows = 0, n = 0, k = 0;
    char more = 0;
    if (std::sscanf(text.c_str(), "%lldx%lldx%lldx%lld%c", &groups, &rows, &n, &k, &more) != 4 ||
        std::min({groups, rows, n, k}) < 1 || std::max({groups, rows, n, k}) > 1 << 20) {
      return Status::refused("The shape '" + text +
                             "' is not of the form GROUPSxROWSxNxK, each between 1 and 2^20.");
    }
    cases.push_back({groups, rows, n, k});
  }
  for (GroupedCase& one : cases) one.seed = request.seed;
  return Status::good();
}

// Device buffers of one case: enough sets of standard-normal A and B that a set has left the L2
// before it comes round again.
class GroupedBuffers {
 public:
  explicit GroupedBuffers(const GroupedCase& what) : what_(what) {
    std::vector<std::int32_t> ends = what.sizes();
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    int l2_bytes = 0;
    must(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "Asking for the L2's size");
    const auto sets =
        std::clamp<std::size_t>(3 * static_cast<std::size_t>(l2_bytes) / bytes() + 1, 2, 64);
    for (std::size_t set = 0; set < sets; ++set) {
      void* memory = nullptr;
      must(cudaMalloc(&memory, bytes()), "Allocating on the GPU");
      base_.push_back(static_cast<char*>(memory));
      fill_normal(memory, ElementType::Bf16, elements_before(2), set + 1);
    }
    void* memory = nullptr;
    must(cudaMalloc(&memory, ends.size() * 4), "Allocating on the GPU");
    rows_ = static_cast<std::int32_t*>(memory);
    must(cudaMemcpy(rows_, ends.data(), ends.size() * 4, cudaMemcpyHostToDevice), "Copying sizes");
    must(cudaDeviceSynchronize(), "Filling the inputs");
  }
  ~GroupedBuffers() {
    for (char* base : base_) cudaFree(base);
    cudaFree(rows_);
  }
  GroupedBuffers(const GroupedBuffers&) = delete;
  int sets() const { return static_cast<int>(base_.size()); }

  tw_grouped_problem problem(int set) const {
    tw_grouped_problem problem = {};
    problem.size = sizeof problem;
    tw_matmul_problem& matmul = problem.matmul;
    matmul.size = sizeof matmul;
    matmul.epilogue.alpha = matmul.epilogue.output_scale = 1.0f;
    matmul.m = what_.rows;
    matmul.n = what_.n;
    matmul.k = what_.k;
    matmul.batch = what_.groups;
    char* const base = base_[static_cast<std::size_t>(set)];
    matmul.a = {base, what_.k, 1, 0, TW_BF16};
    matmul.b = {base + 2 * elements_before(1), 1, what_.k, what_.n * what_.k, TW_BF16};
    matmul.d = {base + 2 * elements_before(2), what_.n, 1, 0, TW_BF16};
    problem.rows = rows_;
    return problem;
  }

 private:
  // Of A, B and D, one behind the other at multiples of 256 bytes.
  std::size_t elements_before(int matrix) const {
    const std::int64_t counts[] = {what_.rows * what_.k, what_.groups * what_.n * what_.k,
                                   what_.rows * what_.n};
    std::size_t before = 0;
    for (int i = 0; i < matrix; ++i)
      before += static_cast<std::size_t>((counts[i] + 127) / 128 * 128);
    return before;
  }
  std::size_t bytes() const { return 2 * elements_before(3); }

  GroupedCase what_;
  std::vector<char*> base_;
  std::int32_t* rows_ = nullptr;
};

struct Launch {
  const Instance* instance;
  MatmulOrder order;
};

// Every bf16 instance of this device, sweeping along both sides.
std::vector<Launch> launches(const std::string& wanted) {
  std::vector<Launch> result;
  const std::string target = dispatch_request().target;
  for (const Instance& instance : grouped_instances()) {
    const auto& facts = *static_cast<const GroupedFacts*>(instance.facts);
    if (instance.target != target || facts.gathers || facts.product.b_scale_rows > 0 ||
        !is_wanted(wanted, instance.name)) {
      continue;
    }
    // family block_scaled: begin
    if (facts.has_block_scales) continue;
    // family block_scaled: end
    for (const Raster raster : {Raster::AlongM, Raster::AlongN}) {
      for (const int group : {4, 16}) {
        MatmulOrder order;
        order.raster = raster;
        order.group = group;
        result.push_back({&instance, order});
      }
    }
  }
  return result;
}

Candidate candidate_of(const Launch& launch, const GroupedBuffers& buffers) {
  return {fmt::format("{} {}{}", launch.instance->name,
                      launch.order.raster == Raster::AlongM ? "m" : "n", launch.order.group),
          [launch, &buffers](int set, void* stream) {
            const tw_grouped_problem problem = buffers.problem(set);
            Checked checked;
            const Status status = check(checked, GroupedFamily::description, &problem);
            if (!status.is_good()) return status;
            return launch.instance->launch(checked, {launch.order, {}}, stream);
          }};
}

struct Result {
  Measurement own, dense;
  double tiles_needed = 0;

  // Ours over the dense product's, times the tiles that groups need.
  double of_dense() const {
    if (!own.ran() || !dense.ran()) return 0;
    return own.median_us / (dense.median_us * tiles_needed);
  }
};

Status measure(Result& result, const Request& request, const GroupedCase& what) {
  const std::vector<Launch> all = launches(request.instances);
  if (all.empty()) {
    return Status::refused("No grouped instance of this device has a name with '" +
                           request.instances + "'.");
  }
  const GroupedBuffers buffers(what);
  const MatmulBuffers dense_buffers({what.rows, what.n, what.k}, 1);
  std::vector<Candidate> candidates, dense;
  for (const Launch& launch : all) candidates.push_back(candidate_of(launch, buffers));
  const Candidate chosen = fastest(candidates, buffers.sets()).front();
  if (Status status = own_candidates(dense, {}, dense_buffers); !status.is_good()) return status;
  const int sets = std::min(buffers.sets(), dense_buffers.sets());
  const auto measured = interleave({chosen, dense.front()}, sets, request.rounds, request.slice);
  result.own = measured[0];
  result.dense = measured[1];
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (candidates[i].name != chosen.name) continue;
    result.tiles_needed =
        what.tiles_needed(static_cast<int>(config_of(*all[i].instance).output_rows()));
  }
  return Status::good();
}

void print(const GroupedCase& what, const Result& result) {
  if (!result.own.ran()) {
    std::printf("%-26s %-28s refused: %s\n", what.text().c_str(), result.own.name.c_str(),
                result.own.refused.c_str());
    return;
  }
  const double us = result.own.median_us;
  std::printf("%-26s %-28s %9.2f us %7.1f TFLOP/s %6.2f TB/s | dense %9.2f us, %.3f tiles: %.3f\n",
              what.text().c_str(), result.own.name.c_str(), us, 1e-6 * what.flops() / us,
              1e-6 * what.bytes() / us, result.dense.median_us, result.tiles_needed,
              result.of_dense());
  std::fflush(stdout);
}

int run(const Request& request, const std::vector<GroupedCase>& cases, const RunFacts& facts) {
  if (const std::string why = unwritable({request.json}); !why.empty()) return refuse(why);
  nlohmann::json report = json_of(facts);
  double logarithms = 0;
  int measured = 0;
  std::printf(
      "groups x rows x n x k; the last number is our time over the dense product's, scaled\n");
  for (const GroupedCase& what : cases) {
    Result result;
    const Status status = measure(result, request, what);
    if (!status.is_good()) return refuse(status.sentence());
    print(what, result);
    if (result.of_dense() > 0) {
      logarithms += std::log(result.of_dense());
      ++measured;
    }
    report["cases"].push_back({{"groups", what.groups},
                               {"rows", what.rows},
                               {"n", what.n},
                               {"k", what.k},
                               {"seed", what.seed},
                               {"sizes", what.sizes()},
                               {"own", json_of(result.own)},
                               {"dense", json_of(result.dense)},
                               {"tiles_needed", result.tiles_needed},
                               {"of_scaled_dense", result.of_dense()}});
    // So far: a run that is ended early has what it measured.
    write_file(request.json, report.dump(1) + "\n");
  }
  if (measured > 0) {
    std::printf("geometric mean over the scaled dense product: %.3f (%d of %zu cases)\n",
                std::exp(logarithms / measured), measured, cases.size());
  }
  return measured == static_cast<int>(cases.size()) ? 0 : 1;
}

}  // namespace

int measure_grouped(int argc, char** argv) {
  Request request;
  CLI::App app{"Measures grouped products beside the dense one, interleaved", "./tw bench"};
  add_options(app, request);
  std::vector<GroupedCase> cases;
  return run_command(
      app, argc, argv, [&] { return read_cases(cases, request); },
      [&] {
        return run(request, cases,
                   facts_of_run(argc, argv, "grouped", "bf16", request.rounds, request.slice));
      });
}

}  // namespace tw::bench
