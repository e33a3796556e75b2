/* D = relu(A B + bias), called as a program on a GPU would call it, here on the virtual GPU. With
   device memory and a stream, tw_matmul(&problem, NULL, workspace, bytes, stream) does the same. */
#include <stdio.h>
#include <tilewright.h>

enum { M = 70, N = 56, K = 96 };
static _Alignas(16) float a[M * K], b[K * N], bias[N], d[M * N];

int main(void) {
  int i, l, wrong = 0;
  tw_matmul_problem problem;
  for (i = 0; i < M * K; ++i) a[i] = (float)(i * 7 % 5 - 2);
  for (i = 0; i < K * N; ++i) b[i] = (float)(i * 11 % 3 - 1);
  for (i = 0; i < N; ++i) bias[i] = (float)(i % 4 - 2);

  tw_matmul_init(&problem, NULL);
  problem.m = M, problem.n = N, problem.k = K;
  problem.a = (tw_matrix){a, K, 1, 0, TW_TF32}; /* strides of a row and of a column */
  problem.b = (tw_matrix){b, N, 1, 0, TW_TF32};
  problem.d = (tw_matrix){d, N, 1, 0, TW_FP32};
  problem.epilogue.column_bias = bias;
  problem.epilogue.bias_type = TW_FP32;
  problem.epilogue.activation = TW_RELU;
  if (tw_matmul_simulate(&problem, NULL) != TW_OK) return puts(tw_message()), 1;

  for (i = 0; i < M * N; ++i) {
    float sum = bias[i % N];
    for (l = 0; l < K; ++l) sum += a[i / N * K + l] * b[l * N + i % N];
    wrong += d[i] != (sum > 0 ? sum : 0);
  }
  printf("%d of %d elements are wrong\n", wrong, M * N);

  problem.d.row_stride = N - 1; /* bad input gets a sentence */
  if (tw_matmul_simulate(&problem, NULL) == TW_OK) return 1;
  puts(tw_message());
  return wrong != 0;
}
