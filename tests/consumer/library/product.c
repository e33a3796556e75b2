/* D = relu(A B + bias) in bf16, on the virtual GPU and, where there is one, on the GPU. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilewright.h>
#ifdef WITH_CUDA
#include <cuda_runtime_api.h>
#endif

enum { M = 70, N = 56, K = 96 };

/* Kernels look at no more alignment of cudaMalloc's memory than this. */
static _Alignas(16) uint16_t a[M * K], b[K * N], d[M * N];
static uint16_t bias[N];

/* Small integers have no bits below those of bf16. */
static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}

static float from_bf16(uint16_t value) {
  const uint32_t bits = (uint32_t)value << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

static void fill(void) {
  int i;
  for (i = 0; i < M * K; ++i) a[i] = to_bf16((float)(i * 7 % 5 - 2));
  for (i = 0; i < K * N; ++i) b[i] = to_bf16((float)(i * 11 % 3 - 1));
  for (i = 0; i < N; ++i) bias[i] = to_bf16((float)(i % 4 - 2));
  memset(d, 0xFF, sizeof d);
}

/* Sums stay below 256, so that bf16 has them all. */
static int wrong_elements(void) {
  int row, column, i, wrong = 0;
  for (row = 0; row < M; ++row) {
    for (column = 0; column < N; ++column) {
      float sum = from_bf16(bias[column]);
      for (i = 0; i < K; ++i) sum += from_bf16(a[row * K + i]) * from_bf16(b[i * N + column]);
      wrong += from_bf16(d[row * N + column]) != (sum > 0 ? sum : 0);
    }
  }
  return wrong;
}

static void must(tw_status status) {
  if (status == TW_OK) return;
  fprintf(stderr, "status %d: %s\n", (int)status, tw_message());
  exit(1);
}

static tw_matmul_problem problem_of(void* a_data, void* b_data, void* bias_data, void* d_data) {
  tw_matmul_problem problem;
  const tw_matrix a_matrix = {a_data, K, 1, 0, TW_BF16};
  const tw_matrix b_matrix = {b_data, N, 1, 0, TW_BF16};
  const tw_matrix d_matrix = {d_data, N, 1, 0, TW_BF16};
  tw_matmul_init(&problem, NULL);
  problem.m = M;
  problem.n = N;
  problem.k = K;
  problem.a = a_matrix;
  problem.b = b_matrix;
  problem.d = d_matrix;
  problem.epilogue.column_bias = bias_data;
  problem.epilogue.activation = TW_RELU;
  return problem;
}

static void multiply_on_virtual_gpu(void) {
  const tw_matmul_problem problem = problem_of(a, b, bias, d);
  const tw_status status = tw_matmul_simulate(&problem, NULL);
  if (status == TW_UNSUPPORTED && strstr(tw_message(), "no virtual GPU") != NULL) {
    printf("%s ", tw_message());
    return;
  }
  must(status);
  if (wrong_elements() != 0) {
    fprintf(stderr, "%d elements are wrong on the virtual GPU.\n", wrong_elements());
    exit(1);
  }
  printf("exact on the virtual GPU; ");
}

#ifdef WITH_CUDA
static void* copied(const void* data, size_t bytes) {
  void* memory = NULL;
  if (cudaMalloc(&memory, bytes) != cudaSuccess ||
      cudaMemcpy(memory, data, bytes, cudaMemcpyHostToDevice) != cudaSuccess) {
    fprintf(stderr, "The GPU's memory cannot be used.\n");
    exit(1);
  }
  return memory;
}

static void multiply_on_gpu(void) {
  size_t bytes = 0;
  void* workspace = NULL;
  tw_matmul_problem problem;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("there is no GPU.\n");
    return;
  }
  fill();
  problem = problem_of(copied(a, sizeof a), copied(b, sizeof b), copied(bias, sizeof bias),
                       copied(d, sizeof d));
  must(tw_matmul_workspace_size(&bytes, &problem, NULL));
  if (bytes > 0) workspace = copied(calloc(1, bytes), bytes);
  must(tw_matmul(&problem, NULL, workspace, bytes, NULL));
  if (cudaMemcpy(d, problem.d.data, sizeof d, cudaMemcpyDeviceToHost) != cudaSuccess ||
      wrong_elements() != 0) {
    fprintf(stderr, "%d elements are wrong on the GPU.\n", wrong_elements());
    exit(1);
  }
  printf("exact on the GPU.\n");
}
#else
static void multiply_on_gpu(void) { printf("built without CUDA.\n"); }
#endif

int main(void) {
  printf("libtilewright %s: ", tw_version());
  fill();
  multiply_on_virtual_gpu();
  multiply_on_gpu();
  return 0;
}
