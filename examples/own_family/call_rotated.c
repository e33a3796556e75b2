/* The family of rotated.cpp, called through the library: it is a plug-in. TW_PLUGIN=FILE adds it
   without tw_load_plugin. On a GPU, tw_run takes the same problem. */
#include <stdio.h>
#include <string.h>
#include <tilewright.h>

enum { M = 70, N = 40, K = 32, SHIFT = 3 };
typedef struct {
  size_t size;
  uint64_t family;
  tw_matmul_problem matmul;
  int64_t shift;
} rotated_problem;
static _Alignas(16) uint16_t a[M * K], b[K * N], d[M * N];

/* Small integers are exact in bf16, which is the upper half of a float. */
static uint16_t bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}
static float number(uint16_t half) {
  uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

int main(void) {
  int i, l, wrong = 0;
  rotated_problem problem;
  if (tw_load_plugin(OF_YORE) == TW_OK) return puts("A plug-in of another version is taken."), 1;
  puts(strchr(tw_message(), '\'') == NULL ? tw_message() : strrchr(tw_message(), '\'') + 2);
  if (tw_load_plugin("missing.so") == TW_OK)
    return puts("A plug-in that is not there is taken."), 1;
  if (tw_load_plugin(PLUGIN) != TW_OK || tw_load_plugin(PLUGIN) != TW_OK)
    return puts(tw_message()), 1;
  if (strstr(tw_describe(NULL), "\"rotated\"") == NULL) return puts("It is not listed."), 1;
  if (strstr(tw_describe("rotated"), "\"rotated_hopper\"") == NULL)
    return puts("It has no kernel."), 1;

  for (i = 0; i < M * K; ++i) a[i] = bf16((float)(i * 7 % 5 - 2));
  for (i = 0; i < K * N; ++i) b[i] = bf16((float)(i * 11 % 3 - 1));
  if (tw_init("rotated", &problem, sizeof problem, NULL) != TW_OK) return puts(tw_message()), 1;
  problem.matmul.m = M, problem.matmul.n = N, problem.matmul.k = K, problem.shift = SHIFT;
  problem.matmul.a = (tw_matrix){a, K, 1, 0, TW_BF16};
  problem.matmul.b = (tw_matrix){b, 1, K, 0, TW_BF16};
  problem.matmul.d = (tw_matrix){d, N, 1, 0, TW_BF16};
  if (tw_simulate(&problem, NULL) != TW_OK) return puts(tw_message()), 1;
  for (i = 0; i < M * N; ++i) {
    float sum = 0;
    for (l = 0; l < K; ++l) {
      sum += number(a[(i / N + SHIFT) % M * K + l]) * number(b[i % N * K + l]);
    }
    wrong += number(d[i]) != sum;
  }
  printf("%d of %d elements are wrong\n", wrong, M * N);

  problem.shift = M; /* the plug-in's own rule */
  if (tw_simulate(&problem, NULL) == TW_OK) return 1;
  puts(tw_message());
  return wrong != 0;
}
