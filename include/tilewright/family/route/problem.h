/* What a caller of route states. */
#ifndef TILEWRIGHT_FAMILY_ROUTE_PROBLEM_H
#define TILEWRIGHT_FAMILY_ROUTE_PROBLEM_H

#include "tilewright/types.h"

/* What an expert's score is: a softmax over all experts of a token, or of each alone
 * 1 / (1 + exp(-logit)). */
typedef enum tw_route_scoring { TW_SOFTMAX = 0, TW_SIGMOID = 1 } tw_route_scoring;

/* Which experts take a token of a mixture of experts, and where its rows lie then.
 *
 * Chosen are the k experts of the largest scores (of a sigmoid's, plus the bias), the best first,
 * the lower expert where two are equal. A logit that is NaN counts as minus infinity, and so does
 * a score with its bias. Groups of experts, which lie one behind the other, are chosen first, by
 * the sum of their best group_scores scores; experts of other groups are not chosen.
 *
 * A token has k rows, one for each of its experts. Rows are sorted by experts, then by tokens:
 * ends, index and places are what tw_grouped (rows, row_index) and tw_combine (places) take. */
typedef struct tw_route_problem {
  size_t size;     /* this struct's: what tw_route_init wrote */
  uint64_t family; /* likewise */
  int64_t tokens;
  int64_t experts;
  int64_t k;                /* experts of a token; 2 */
  int64_t groups;           /* 1 to 32: a divisor of the number of experts */
  int64_t top_groups;       /* groups whose experts may be chosen */
  int64_t group_scores;     /* what a group is chosen by: its best score, or the sum of two */
  tw_route_scoring scoring; /* TW_SOFTMAX */
  int32_t normalise;        /* 1; 1: weights are divided by their sum */
  float scale;              /* 1; weights are multiplied by it */
  tw_matrix logits;         /* tokens by experts, bf16, fp16 or fp32 */
  const float* bias;        /* on the device, of each expert, where scores are sigmoids; or null */
  float* weights;           /* on the device, tokens by k: scores without bias */
  int32_t* chosen;          /* tokens by k: experts */
  int32_t* places;          /* tokens by k: rows */
  int32_t* index;           /* tokens * k: the token of each row */
  int32_t* ends;            /* for each expert the row behind its last */
} tw_route_problem;

#endif /* TILEWRIGHT_FAMILY_ROUTE_PROBLEM_H */
