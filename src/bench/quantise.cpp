// ./tw bench quantise: bf16 to e4m3 with scales of rows and of blocks, through memory beside a copy
// of as many bytes.
#include "src/run/quantise.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "src/bench/device.h"
#include "src/bench/fill.h"
#include "src/bench/own.h"
#include "src/bench/request.h"
#include "tilewright/family/quantise/kernel.h"

namespace tw::bench {

namespace {

struct Request {
  std::string family;
  std::vector<std::string> shapes;
  std::string scales = "row";
  int rounds = 5;
  double slice = choosing_slice_milliseconds;
  std::string json;
};

struct QuantiseCase {
  std::int64_t m = 0, k = 0;
};

void add_options(CLI::App& app, Request& request) {
  app.add_option("family", request.family, "quantise")->required();
  app.add_option("--shape", request.shapes, "MxK; may be repeated; without it, four usual ones");
  app.add_option("--scales", request.scales, "row or column: what is contiguous")
      ->check(CLI::IsMember({"row", "column"}))
      ->capture_default_str();
  app.add_option("--rounds", request.rounds)->check(CLI::Range(3, 1000));
  app.add_option("--slice", request.slice, "milliseconds of a candidate in each round")
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", request.json, "also write everything there");
}

Status read_cases(std::vector<QuantiseCase>& cases, const Request& request) {
  if (request.shapes.empty()) cases = {{8192, 8192}, {4096, 7168}, {16384, 16384}, {64, 7168}};
  for (const std::string& text : request.shapes) {
    long long m = 0, k = 0;
    char more = 0;
    if (std::sscanf(text.c_str(), "%lldx%lld%c", &m, &k, &more) != 2 || std::min(m, k) < 1 ||
        std::max(m, k) > 1 << 20) {
      return Status::refused("The shape '" + text +
                             "' is not of the form MxK, each between 1 and 2^20.");
    }
    cases.push_back({m, k});
  }
  return Status::good();
}

// Sets of source, elements and scales, so many that a set has left the L2 before it comes again.
class QuantiseBuffers {
 public:
  QuantiseBuffers(const QuantiseCase& what, Major scales) : what_(what), scales_(scales) {
    int l2_bytes = 0;
    must(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "Asking for the L2's size");
    const auto sets =
        std::clamp<std::size_t>(3 * static_cast<std::size_t>(l2_bytes) / bytes() + 1, 2, 64);
    for (std::size_t set = 0; set < sets; ++set) {
      void* memory = nullptr;
      must(cudaMalloc(&memory, bytes()), "Allocating on the GPU");
      base_.push_back(static_cast<char*>(memory));
      fill_normal(memory, ElementType::Bf16, elements(), set + 1);
    }
    must(cudaDeviceSynchronize(), "Filling the inputs");
  }
  ~QuantiseBuffers() {
    for (char* base : base_) cudaFree(base);
  }
  QuantiseBuffers(const QuantiseBuffers&) = delete;
  int sets() const { return static_cast<int>(base_.size()); }

  tw_quantise_problem problem(int set, unsigned scale_rows) const {
    auto problem = AnyProblem(QuantiseFamily::description).as<tw_quantise_problem>();
    problem.m = what_.m;
    problem.k = what_.k;
    problem.scale_rows = scale_rows;
    char* const base = base_[static_cast<std::size_t>(set)];
    problem.source = {base, what_.k, 1, 0, TW_BF16};
    problem.elements = {base + 2 * elements(), what_.k, 1, 0, TW_E4M3};
    const bool by_rows = scales_ == Major::K;
    problem.scales = {base + (3 * elements() + 255) / 256 * 256,
                      by_rows ? QuantiseFamily::k_blocks(problem) : 1,
                      by_rows ? 1 : QuantiseFamily::scale_lines(problem), 0, TW_FP32};
    return problem;
  }
  Status launch(const Instance& instance, int set, unsigned scale_rows, void* stream) const {
    const tw_quantise_problem given = problem(set, scale_rows);
    Checked checked;
    const Status status = check(checked, QuantiseFamily::description, &given);
    return status.is_good() ? instance.launch(checked, {}, stream) : status;
  }
  // Of source, elements and scales: read or written once.
  double moved(unsigned scale_rows) const {
    const tw_quantise_problem one = problem(0, scale_rows);
    return 3.0 * static_cast<double>(elements()) +
           4.0 * static_cast<double>(QuantiseFamily::scale_lines(one) *
                                     QuantiseFamily::k_blocks(one));
  }
  // As many bytes, half of them read and half written.
  Status copy(int set, void* stream) const {
    char* const base = base_[static_cast<std::size_t>(set)];
    const std::size_t half = static_cast<std::size_t>(moved(1) / 2) / 256 * 256;
    const cudaError_t error = cudaMemcpyAsync(base + half, base, half, cudaMemcpyDeviceToDevice,
                                              static_cast<cudaStream_t>(stream));
    return error == cudaSuccess ? Status::good() : Status::refused(cudaGetErrorString(error));
  }

 private:
  std::size_t elements() const { return static_cast<std::size_t>(what_.m * what_.k); }
  // With room for a scale of each row and 128 of k.
  std::size_t bytes() const {
    const auto scales = static_cast<std::size_t>(what_.m * ((what_.k + 127) / 128));
    return 3 * elements() + 4 * scales + 512;
  }

  QuantiseCase what_;
  Major scales_;
  std::vector<char*> base_;
};

// The kernels of this device, and the copy last.
std::vector<Measurement> measure(const Request& request, const QuantiseBuffers& buffers,
                                 std::vector<double>& moved) {
  std::vector<Candidate> candidates;
  const std::string target = dispatch_request().target;
  for (const Instance& instance : quantise_instances()) {
    if (instance.target != target) continue;
    const unsigned rows = static_cast<const QuantiseConfig*>(instance.facts)->scale_rows;
    candidates.push_back({instance.name, [&, rows](int set, void* stream) {
                            return buffers.launch(instance, set, rows, stream);
                          }});
    moved.push_back(buffers.moved(rows));
  }
  candidates.push_back({"copy", [&](int set, void* stream) { return buffers.copy(set, stream); }});
  moved.push_back(buffers.moved(1));
  return interleave(candidates, buffers.sets(), request.rounds, request.slice);
}

int run(const Request& request, const std::vector<QuantiseCase>& cases, const RunFacts& facts) {
  if (const std::string why = unwritable({request.json}); !why.empty()) return refuse(why);
  nlohmann::json report = json_of(facts);
  bool good = true;
  std::printf("m x k, bf16 to e4m3; the last number is the rate over that of a copy\n");
  for (const QuantiseCase& what : cases) {
    const QuantiseBuffers buffers(what, request.scales == "row" ? Major::K : Major::MN);
    std::vector<double> moved;
    const std::vector<Measurement> measured = measure(request, buffers, moved);
    const auto rate = [&](std::size_t i) {
      return measured[i].ran() ? 1e-3 * moved[i] / measured[i].median_us : 0.0;
    };
    nlohmann::json rows;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const double of_copy = rate(i) / rate(measured.size() - 1);
      std::printf("%-16s %-20s %9.2f us %7.0f GB/s %6.3f %s\n",
                  fmt::format("{} x {}", what.m, what.k).c_str(), measured[i].name.c_str(),
                  measured[i].median_us, rate(i), of_copy, measured[i].refused.c_str());
      good = good && measured[i].ran();
      rows.push_back({{"kernel", json_of(measured[i])},
                      {"gigabytes_per_second", rate(i)},
                      {"of_copy", of_copy}});
    }
    std::fflush(stdout);
    report["cases"].push_back({{"m", what.m}, {"k", what.k}, {"measured", rows}});
  }
  write_file(request.json, report.dump(1) + "\n");
  return good ? 0 : 1;
}

}  // namespace

int measure_quantise(int argc, char** argv) {
  Request request;
  CLI::App app{"Measures the quantisers beside a copy, interleaved", "./tw bench"};
  add_options(app, request);
  std::vector<QuantiseCase> cases;
  return run_command(
      app, argc, argv, [&] { return read_cases(cases, request); },
      [&] {
        return run(request, cases,
                   facts_of_run(argc, argv, "quantise", "bf16", request.rounds, request.slice));
      });
}

}  // namespace tw::bench
