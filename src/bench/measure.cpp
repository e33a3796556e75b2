#include "src/bench/measure.h"

#include <cublasLt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "src/bench/fill.h"
#include "tilewright/host/cuda.h"

namespace tw::bench {

namespace {

template <class Code>
void must(Code code, const char* what) {
  if (static_cast<int>(code) == 0) return;
  std::fprintf(stderr, "tw: %s failed with error %d.\n", what, static_cast<int>(code));
  std::exit(1);
}

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

// A slice of one candidate must outlast the card's power control, or a kernel is paid for the watts
// that its neighbour saved.
constexpr double slice_milliseconds = 30;

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

MatmulBuffers::MatmulBuffers(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed)
    : m_(m), n_(n), k_(k) {
  int l2_bytes = 0;
  must(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "Asking for the L2's size");
  const std::size_t a_bytes = aligned(2 * m * k), b_bytes = aligned(2 * n * k);
  const std::size_t bytes = a_bytes + b_bytes + aligned(2 * m * n);
  const std::size_t sets = std::clamp<std::size_t>(3 * std::size_t(l2_bytes) / bytes + 1, 2, 64);
  for (std::size_t set = 0; set < sets; ++set) {
    char* base = nullptr;
    must(cudaMalloc(&base, bytes), "Allocating on the GPU");
    base_.push_back(base);
    fill_normal(reinterpret_cast<Bf16*>(base), m * k, seed + 2 * set);
    fill_normal(reinterpret_cast<Bf16*>(base + a_bytes), n * k, seed + 2 * set + 1);
  }
  must(cudaDeviceSynchronize(), "Filling the inputs");
}

MatmulBuffers::~MatmulBuffers() {
  for (char* base : base_) cudaFree(base);
}

MatmulProblem MatmulBuffers::problem(int set) const {
  MatmulProblem problem;
  problem.m = m_;
  problem.n = n_;
  problem.k = k_;
  char* base = base_[set];
  const std::size_t a_bytes = aligned(2 * m_ * k_), b_bytes = aligned(2 * n_ * k_);
  problem.a.data = base;
  problem.b.data = base + a_bytes;
  problem.d.data = base + a_bytes + b_bytes;
  problem.a.pitch = problem.b.pitch = k_;
  problem.d.pitch = n_;
  return problem;
}

DeviceWorkspace::DeviceWorkspace(std::size_t bytes) : workspace{nullptr, bytes} {
  if (bytes == 0) return;
  must(cudaMalloc(&workspace.data, bytes), "Allocating a workspace");
  must(cudaMemset(workspace.data, 0, bytes), "Clearing a workspace");
}
DeviceWorkspace::~DeviceWorkspace() { cudaFree(workspace.data); }

std::vector<Measurement> interleave(const std::vector<Candidate>& candidates, int sets,
                                    int rounds) {
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

struct CublasLt::State {
  static constexpr std::size_t workspace_bytes = 64u << 20;
  const MatmulBuffers* buffers;
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t a, b, d;
  void* workspace;
  std::vector<cublasLtMatmulHeuristicResult_t> found;

  ~State() {
    cublasLtMatrixLayoutDestroy(a);
    cublasLtMatrixLayoutDestroy(b);
    cublasLtMatrixLayoutDestroy(d);
    cublasLtMatmulDescDestroy(operation);
    cublasLtDestroy(handle);
    cudaFree(workspace);
  }
};

// Row-major D = A B^T is column-major D^T = B A^T: cuBLAS's first operand is our B.
CublasLt::CublasLt(const MatmulBuffers& buffers, int algorithms) : state_(new State) {
  State& state = *state_;
  state.buffers = &buffers;
  const MatmulProblem problem = buffers.problem(0);
  must(cublasLtCreate(&state.handle), "cublasLtCreate");
  must(cudaMalloc(&state.workspace, State::workspace_bytes), "Allocating a workspace");
  must(cublasLtMatmulDescCreate(&state.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLt");
  const cublasOperation_t transposed = CUBLAS_OP_T;
  must(cublasLtMatmulDescSetAttribute(state.operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                      sizeof transposed),
       "cublasLt");
  must(cublasLtMatrixLayoutCreate(&state.b, CUDA_R_16BF, problem.k, problem.n, problem.b.pitch),
       "cublasLt");
  must(cublasLtMatrixLayoutCreate(&state.a, CUDA_R_16BF, problem.k, problem.m, problem.a.pitch),
       "cublasLt");
  must(cublasLtMatrixLayoutCreate(&state.d, CUDA_R_16BF, problem.n, problem.m, problem.d.pitch),
       "cublasLt");
  cublasLtMatmulPreference_t preference;
  must(cublasLtMatmulPreferenceCreate(&preference), "cublasLt");
  must(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                            &State::workspace_bytes, sizeof State::workspace_bytes),
       "cublasLt");
  state.found.resize(algorithms);
  int count = 0;
  must(cublasLtMatmulAlgoGetHeuristic(state.handle, state.operation, state.b, state.a, state.d,
                                      state.d, preference, algorithms, state.found.data(), &count),
       "cublasLt's heuristic");
  state.found.resize(count);
  cublasLtMatmulPreferenceDestroy(preference);
}

std::vector<Candidate> CublasLt::all() const {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < state_->found.size(); ++i) {
    candidates.push_back(
        {"cublaslt#" + std::to_string(i), [state = state_, i](int set, void* stream) {
           const MatmulProblem problem = state->buffers->problem(set);
           const float one = 1.0f, zero = 0.0f;
           const cublasStatus_t code =
               cublasLtMatmul(state->handle, state->operation, &one, problem.b.data, state->b,
                              problem.a.data, state->a, &zero, problem.d.data, state->d,
                              problem.d.data, state->d, &state->found[i].algo, state->workspace,
                              State::workspace_bytes, static_cast<cudaStream_t>(stream));
           if (code == CUBLAS_STATUS_SUCCESS) return Status::good();
           return Status::refused("cublasLtMatmul failed with error " +
                                  std::to_string(static_cast<int>(code)) + ".");
         }});
  }
  return candidates;
}

DeviceState device_state() {
  return {first_line("nvidia-smi --query-gpu=name --format=csv,noheader"),
          first_line("nvidia-smi --query-gpu=driver_version --format=csv,noheader"),
          first_line("nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu "
                     "--format=csv,noheader")};
}

}  // namespace tw::bench
