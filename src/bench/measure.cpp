#include "src/bench/measure.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "src/bench/fill.h"

namespace tw::bench {

void must(int code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "tw: %s failed with error %d.\n", what, code);
  std::exit(1);
}

namespace {

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

std::string first_line(const char* command) {
  std::string line;
  if (FILE* pipe = popen(command, "r")) {
    char text[256] = {};
    if (std::fgets(text, sizeof text, pipe)) line = text;
    pclose(pipe);
  }
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  return line;
}

// One candidate, captured as a graph of `launches` products.
struct Slice {
  cudaGraphExec_t graph = nullptr;
  int launches = 0;
  std::vector<double> microseconds;
};

std::string capture(Slice& slice, const Candidate& candidate, int sets, int launches,
                    cudaStream_t stream) {
  std::string refused;
  cudaGraph_t graph;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "Beginning a capture");
  for (int launch = 0; launch < launches && refused.empty(); ++launch) {
    const Status status = candidate.launch(launch % sets, stream);
    if (!status.is_good()) refused = status.sentence();
  }
  must(cudaStreamEndCapture(stream, &graph), "Ending a capture");
  if (refused.empty()) {
    must(cudaGraphInstantiate(&slice.graph, graph, 0), "Instantiating a graph");
    slice.launches = launches;
  }
  cudaGraphDestroy(graph);
  return refused;
}

double time_slice(const Slice& slice, cudaStream_t stream, cudaEvent_t begin, cudaEvent_t end) {
  must(cudaGraphLaunch(slice.graph, stream), "Launching a graph");
  must(cudaEventRecord(begin, stream), "Recording an event");
  must(cudaGraphLaunch(slice.graph, stream), "Launching a graph");
  must(cudaEventRecord(end, stream), "Recording an event");
  must(cudaEventSynchronize(end), "Waiting for a graph");
  float milliseconds = 0;
  must(cudaEventElapsedTime(&milliseconds, begin, end), "Reading the time");
  return milliseconds * 1e3 / slice.launches;
}

}  // namespace

namespace {

std::size_t a_bytes(const MatmulCase& what) {
  return aligned(bytes_of(what.type) * what.m * what.k);
}
std::size_t b_bytes(const MatmulCase& what) {
  return aligned(bytes_of(what.type) * what.n * what.k);
}

}  // namespace

MatmulBuffers::MatmulBuffers(const MatmulCase& what, std::uint64_t seed) : what_(what) {
  int l2_bytes = 0;
  must(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "Asking for the L2's size");
  const std::size_t bytes = a_bytes(what) + b_bytes(what) + aligned(2 * what.m * what.n);
  const std::size_t sets = std::clamp<std::size_t>(3 * std::size_t(l2_bytes) / bytes + 1, 2, 64);
  for (std::size_t set = 0; set < sets; ++set) {
    void* memory = nullptr;
    must(cudaMalloc(&memory, bytes), "Allocating on the GPU");
    char* const base = static_cast<char*>(memory);
    base_.push_back(base);
    fill_normal(base, what.type, what.m * what.k, seed + 2 * set);
    fill_normal(base + a_bytes(what), what.type, what.n * what.k, seed + 2 * set + 1);
  }
  must(cudaDeviceSynchronize(), "Filling the inputs");
}

MatmulBuffers::~MatmulBuffers() {
  for (char* base : base_) cudaFree(base);
}

MatmulProblem MatmulBuffers::problem(int set) const {
  MatmulProblem problem;
  problem.m = what_.m;
  problem.n = what_.n;
  problem.k = what_.k;
  char* base = base_[set];
  problem.a.data = base;
  problem.b.data = base + a_bytes(what_);
  problem.d.data = base + a_bytes(what_) + b_bytes(what_);
  problem.a.type = problem.b.type = what_.type;
  problem.d.type = what_.d_type();
  problem.a.pitch = problem.b.pitch = what_.k;
  problem.d.pitch = what_.n;
  return problem;
}

DeviceWorkspace::DeviceWorkspace(std::size_t bytes) : workspace{nullptr, bytes} {
  if (bytes == 0) return;
  must(cudaMalloc(&workspace.data, bytes), "Allocating a workspace");
  must(cudaMemset(workspace.data, 0, bytes), "Clearing a workspace");
}
DeviceWorkspace::~DeviceWorkspace() { cudaFree(workspace.data); }

std::vector<Measurement> interleave(const std::vector<Candidate>& candidates, int sets, int rounds,
                                    double slice_milliseconds) {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  must(cudaStreamCreate(&stream), "Creating a stream");
  must(cudaEventCreate(&begin), "Creating an event");
  must(cudaEventCreate(&end), "Creating an event");
  std::vector<Measurement> results(candidates.size());
  std::vector<Slice> slices(candidates.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    results[i].name = candidates[i].name;
    Slice trial;
    results[i].refused = capture(trial, candidates[i], sets, 3, stream);
    if (!results[i].refused.empty()) continue;
    const double guess = time_slice(trial, stream, begin, end);
    cudaGraphExecDestroy(trial.graph);
    const int launches = std::clamp(static_cast<int>(slice_milliseconds * 1e3 / guess), sets, 2000);
    capture(slices[i], candidates[i], sets, launches, stream);
    order.push_back(i);
  }
  // Another order in each round: nobody always follows the same neighbour.
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      slices[i].microseconds.push_back(time_slice(slices[i], stream, begin, end));
    }
  }
  for (const std::size_t i : order) {
    std::vector<double>& times = slices[i].microseconds;
    std::sort(times.begin(), times.end());
    results[i].median_us = times[times.size() / 2];
    results[i].low_us = times.front();
    results[i].high_us = times.back();
    cudaGraphExecDestroy(slices[i].graph);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
  return results;
}

DeviceState device_state() {
  return {first_line("nvidia-smi --query-gpu=name --format=csv,noheader"),
          first_line("nvidia-smi --query-gpu=driver_version --format=csv,noheader"),
          first_line("nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu "
                     "--format=csv,noheader")};
}

}  // namespace tw::bench
