// cuBLASLt as a peer: its algorithms as candidates that keep what they need alive, none where it
// does not compute the case. fp8 with scales of one for each tensor and fast accumulation, or of
// blocks.
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include "src/bench/harness/device.h"
#include "src/bench/peers/peers.h"

namespace tw::bench {

namespace {

cudaDataType cuda_type(ElementType type) {
  switch (type) {
    case ElementType::Fp16: return CUDA_R_16F;
    case ElementType::E4m3: return CUDA_R_8F_E4M3;
    case ElementType::E5m2: return CUDA_R_8F_E5M2;
    default: return CUDA_R_16BF;
  }
}

struct State {
  static constexpr std::size_t workspace_bytes = 256u << 20;  // the same as ours
  const Buffers* buffers;
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t a, b, d;
  void* workspace;
  void* scale = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> found;

  ~State() {
    cublasLtMatrixLayoutDestroy(a);
    cublasLtMatrixLayoutDestroy(b);
    cublasLtMatrixLayoutDestroy(d);
    cublasLtMatmulDescDestroy(operation);
    cublasLtDestroy(handle);
    cudaFree(workspace);
    cudaFree(scale);
  }
};

// Row-major D = A B^T is column-major D^T = B A^T: cuBLAS's first operand is our B.
std::shared_ptr<State> state_of(const Buffers& buffers, int algorithms) {
  const auto made = std::make_shared<State>();
  State& state = *made;
  state.buffers = &buffers;
  const MatmulProblem problem = buffers.checked(0).product();
  const auto& scales = buffers.what().block_scales;
  const cudaDataType type = cuda_type(problem.a.type);
  const cudaDataType d_type = cuda_type(problem.d.type);
  must(cublasLtCreate(&state.handle), "cublasLtCreate");
  must(cudaMalloc(&state.workspace, State::workspace_bytes), "Allocating a workspace");
  must(cublasLtMatmulDescCreate(&state.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLt");
  const cublasOperation_t transposed = CUBLAS_OP_T;
  must(cublasLtMatmulDescSetAttribute(state.operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                      sizeof transposed),
       "cublasLt");
  must(cublasLtMatrixLayoutCreate(&state.b, type, problem.k, problem.n, problem.b.pitch),
       "cublasLt");
  must(cublasLtMatrixLayoutCreate(&state.a, type, problem.k, problem.m, problem.a.pitch),
       "cublasLt");
  must(cublasLtMatrixLayoutCreate(&state.d, d_type, problem.n, problem.m, problem.d.pitch),
       "cublasLt");
  if (scales) {
    const auto set = [&](cublasLtMatmulDescAttributes_t which, const auto& value) {
      must(cublasLtMatmulDescSetAttribute(state.operation, which, &value, sizeof value),
           "cublasLt");
    };
    set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE,
        std::int32_t{CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F});
    set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, std::int32_t{CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F});
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, buffers.checked(0).tensor(scales->second).data);
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, buffers.checked(0).tensor(scales->first).data);
  } else if (bytes_of(problem.a.type) == 1) {
    const float one = 1.0f;
    must(cudaMalloc(&state.scale, sizeof one), "Allocating a scale");
    must(cudaMemcpy(state.scale, &one, sizeof one, cudaMemcpyHostToDevice), "Copying a scale");
    const signed char fast = 1;
    must(cublasLtMatmulDescSetAttribute(state.operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                        sizeof fast),
         "cublasLt");
    for (const auto scale :
         {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER}) {
      must(cublasLtMatmulDescSetAttribute(state.operation, scale, &state.scale, sizeof state.scale),
           "cublasLt");
    }
  }
  cublasLtMatmulPreference_t preference;
  must(cublasLtMatmulPreferenceCreate(&preference), "cublasLt");
  must(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                            &State::workspace_bytes, sizeof State::workspace_bytes),
       "cublasLt");
  state.found.resize(algorithms);
  int count = 0;
  const cublasStatus_t found =
      cublasLtMatmulAlgoGetHeuristic(state.handle, state.operation, state.b, state.a, state.d,
                                     state.d, preference, algorithms, state.found.data(), &count);
  if (found != CUBLAS_STATUS_NOT_SUPPORTED) must(found, "cublasLt's heuristic");
  state.found.resize(found == CUBLAS_STATUS_SUCCESS ? count : 0);
  cublasLtMatmulPreferenceDestroy(preference);
  return made;
}

// Products, with scales of blocks or without.
std::vector<Candidate> candidates_of(const Buffers& buffers, int algorithms) {
  const std::shared_ptr<State> state = state_of(buffers, algorithms);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < state->found.size(); ++i) {
    candidates.push_back({"cublaslt#" + std::to_string(i), [state, i](int set, void* stream) {
                            const MatmulProblem problem = state->buffers->checked(set).product();
                            const float one = 1.0f, zero = 0.0f;
                            const cublasStatus_t code = cublasLtMatmul(
                                state->handle, state->operation, &one, problem.b.data, state->b,
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

const RegisteredPeer registered({"cublaslt",
                                 [](Peers& peers, const Buffers& buffers, const PeerEffort& effort,
                                    const std::vector<Candidate>&) {
                                   peers.plain = candidates_of(buffers, effort.algorithms);
                                 },
                                 nullptr});

}  // namespace

}  // namespace tw::bench
