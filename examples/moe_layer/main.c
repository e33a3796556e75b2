/* A layer of experts: five problems in one call, here on the virtual GPU. With device memory
   tw_sequence_create decides once, and tw_sequence_run enqueues all five on a stream, which a graph
   may capture: no host reads what the router decides. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tilewright.h>

enum { TOKENS = 10, EXPERTS = 4, TOP = 2, HIDDEN = 64, INNER = 16, ROWS = TOKENS * TOP };
static _Alignas(16) uint16_t x[TOKENS * HIDDEN], gate_up[EXPERTS * 2 * INNER * HIDDEN];
static _Alignas(16) uint16_t down[EXPERTS * HIDDEN * INNER], rows[ROWS * HIDDEN],
    middle[ROWS * INNER];
static _Alignas(16) uint16_t made[ROWS * HIDDEN], y[TOKENS * HIDDEN];
static _Alignas(16) float logits[TOKENS * EXPERTS], weights[ROWS];
static _Alignas(16) int32_t chosen[ROWS], places[ROWS], of_row[ROWS], ends[EXPERTS];

/* bf16 is the upper half of a float; these values need no rounding. */
static uint16_t bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}
static float number(uint16_t value) {
  const uint32_t bits = (uint32_t)value << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}
static tw_matrix by_rows(void* data, int64_t columns) {
  return (tw_matrix){data, columns, 1, 0, TW_BF16};
}

static tw_route_problem route(void) {
  tw_route_problem problem;
  tw_route_init(&problem, NULL);
  problem.tokens = TOKENS, problem.experts = EXPERTS, problem.k = TOP;
  problem.logits = (tw_matrix){logits, EXPERTS, 1, 0, TW_FP32};
  problem.weights = weights, problem.chosen = chosen, problem.places = places;
  problem.index = of_row, problem.ends = ends;
  return problem;
}

static tw_combine_problem combine(tw_matrix to, tw_matrix from, int64_t from_rows, int64_t tokens,
                                  int64_t k, const int32_t* where, const float* by) {
  tw_combine_problem problem;
  tw_combine_init(&problem, NULL);
  problem.tokens = tokens, problem.columns = HIDDEN, problem.k = k, problem.rows = from_rows;
  problem.source = from, problem.output = to, problem.places = where, problem.weights = by;
  return problem;
}

/* B of each expert has n columns of k elements each. */
static tw_grouped_problem multiply(tw_matrix to, tw_matrix a, uint16_t* b, int64_t n, int64_t k,
                                   int gated) {
  tw_grouped_problem problem;
  tw_grouped_init(&problem, NULL);
  problem.matmul.m = ROWS, problem.matmul.n = n, problem.matmul.k = k,
  problem.matmul.batch = EXPERTS;
  problem.matmul.a = a, problem.matmul.d = to;
  problem.matmul.b = (tw_matrix){b, 1, k, n * k, TW_BF16};
  problem.matmul.epilogue.activation = gated ? TW_RELU : TW_NONE;
  problem.matmul.epilogue.gated = gated;
  problem.rows = ends;
  return problem;
}

static float expected(int token, int column) {
  float sum = 0;
  int i, j, l;
  for (i = 0; i < TOP; ++i) {
    const int expert = chosen[token * TOP + i];
    float value = 0;
    for (j = 0; j < INNER; ++j) {
      float both[2] = {0, 0};
      for (l = 0; l < 2 * HIDDEN; ++l) {
        const int b = (expert * 2 * INNER + 2 * j + l / HIDDEN) * HIDDEN + l % HIDDEN;
        both[l / HIDDEN] += number(x[token * HIDDEN + l % HIDDEN]) * number(gate_up[b]);
      }
      value += (both[0] > 0 ? both[0] : 0) * both[1] *
               number(down[(expert * HIDDEN + column) * INNER + j]);
    }
    sum += weights[token * TOP + i] * value;
  }
  return sum;
}

int main(void) {
  int i, wrong = 0;
  for (i = 0; i < TOKENS * HIDDEN; ++i) x[i] = bf16(i % 13 == 0 ? (float)(i % 3 - 1) : 0);
  for (i = 0; i < EXPERTS * 2 * INNER * HIDDEN; ++i) gate_up[i] = bf16((float)(i * 7 % 3 - 1));
  for (i = 0; i < EXPERTS * HIDDEN * INNER; ++i) down[i] = bf16((float)(i * 11 % 3 - 1));
  /* Two equal logits, far above the others: weights of a half. */
  for (i = 0; i < TOKENS * EXPERTS; ++i) {
    const int away = (i % EXPERTS - i / EXPERTS + TOKENS * EXPERTS) % EXPERTS;
    logits[i] = away == 0 || away == 2 ? 200.0f : (float)-i;
  }

  const tw_route_problem routed = route();
  const tw_combine_problem gather =
      combine(by_rows(rows, HIDDEN), by_rows(x, HIDDEN), TOKENS, ROWS, 1, of_row, NULL);
  const tw_grouped_problem gates =
      multiply(by_rows(middle, INNER), by_rows(rows, HIDDEN), gate_up, 2 * INNER, HIDDEN, 1);
  const tw_grouped_problem product =
      multiply(by_rows(made, HIDDEN), by_rows(middle, INNER), down, HIDDEN, INNER, 0);
  const tw_combine_problem sums =
      combine(by_rows(y, HIDDEN), by_rows(made, HIDDEN), ROWS, TOKENS, TOP, places, weights);
  const void* const layer[] = {&routed, &gather, &gates, &product, &sums};
  if (tw_sequence_simulate(layer, 5, NULL) != TW_OK) return puts(tw_message()), 1;

  for (i = 0; i < TOKENS * HIDDEN; ++i) wrong += number(y[i]) != expected(i / HIDDEN, i % HIDDEN);
  printf("rows of experts end at %d, %d, %d, %d; %d of %d elements are wrong\n", ends[0], ends[1],
         ends[2], ends[3], wrong, TOKENS * HIDDEN);
  return wrong != 0;
}
