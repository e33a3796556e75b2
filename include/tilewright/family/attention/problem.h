/* What a caller of attention states. */
#ifndef TILEWRIGHT_FAMILY_ATTENTION_PROBLEM_H
#define TILEWRIGHT_FAMILY_ATTENTION_PROBLEM_H

#include "tilewright/types.h"

/* output = softmax(score) v, score = scale * q k^T, for each sequence and head. The tensors have a
 * matrix for each head, (token,column), columns contiguous: heads may lie side by side in a row of
 * memory, or one behind the other. Tokens of all sequences lie behind each other. (Where heads of a
 * sequence do so, every head of every sequence counts as a head of one.) */
typedef struct tw_attention_problem {
  size_t size;        /* this struct's: what tw_attention_init wrote */
  uint64_t family;    /* likewise */
  int64_t heads;      /* heads of q and output */
  int64_t key_heads;  /* heads of k and v: each serves heads / key_heads heads */
  int64_t head_size;  /* columns of q and k */
  int64_t value_size; /* columns of v and output; 0: head_size */
  int64_t sequences;
  /* Tokens of every sequence; where ends are given, of all together. */
  int64_t queries, keys;
  /* On the device, one for each sequence: the row behind its last. Null: all are equally long. */
  const int32_t* query_ends;
  const int32_t* key_ends;
  int causal;     /* the last query sees all keys, the one before all but the last, and so on */
  int64_t window; /* with causal: a query sees the last so many of these keys; 0: all */
  float scale;    /* 0: 1 / sqrt(head_size) */
  float softcap;  /* score = softcap * tanh(scale * q k^T / softcap); 0: as it is */
  /* bf16, or fp16; q, k and v also e4m3, and output is then bf16; or k and v alone, with q bf16. */
  tw_matrix q, k, v, output;
  const float* sinks; /* for each head a score that is seen but has no value; or null */
  tw_matrix log_sums; /* (head,token), fp32: of the exponentials of scores; data null: none */
  /* Keys and values in pages of page_size tokens, a cache of `pages` of them; 0: they lie as above.
   * On the device, page_table has a row of table_pitch pages for each sequence, and key_ends how
   * many keys a sequence has, at most `keys`; query_ends may be given as well, and queries are then
   * those of all together. k and v have a matrix for each head with pages * page_size tokens; or,
   * heads_in_pages, one of page_size tokens for each page and head, head by head. */
  int64_t page_size, pages, table_pitch;
  const int32_t* page_table;
  int heads_in_pages;
  /* What elements of e4m3 are multiplied by, above 0: on the device, for each head of keys;
     null: 1. */
  const float* q_scales;
  const float* k_scales;
  const float* v_scales;
  /* Values are the first value_size columns of k, which is read once for both: v has no data, and
     k_scales is of both. */
  int values_in_keys;
  /* On the device, one for each row of q: the first key that the query sees, and the key behind the
   * last, counted from its sequence's first. They say all that a mask can: causal is 0 beside them.
   * Both null: as above. */
  const int32_t* range_begins;
  const int32_t* range_ends;
  /* Products of e4m3: values of up to so many keys are added up in the tensor core, which keeps
   * 13 bits of fraction, before their sum joins the others in float32; 0: 128. More lets kernels
   * with larger blocks of keys be taken, and widens the bound of the error. */
  int64_t sums_join_every;
} tw_attention_problem;

#endif /* TILEWRIGHT_FAMILY_ATTENTION_PROBLEM_H */
