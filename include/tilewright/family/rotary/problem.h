/* What a caller of rotary states. */
#ifndef TILEWRIGHT_FAMILY_ROTARY_PROBLEM_H
#define TILEWRIGHT_FAMILY_ROTARY_PROBLEM_H

#include "tilewright/types.h"

/* Between a product that makes queries, keys and values, and attention: heads of queries and keys
 * are rotated, and keys and values go to the rows of a cache.
 *
 * A row of qkv has the heads of queries, then those of keys, then those of values. Of a head that
 * is rotated, column j and column j + head_size / 2 are the parts of a complex number, which is
 * multiplied by (cosine, sine) of the token's position and j. */
typedef struct tw_rotary_problem {
  size_t size;     /* this struct's: what tw_rotary_init wrote */
  uint64_t family; /* likewise */
  int64_t tokens;
  int64_t heads;         /* heads of queries */
  int64_t key_heads;     /* heads of keys, and of values */
  int64_t head_size;     /* even */
  int64_t all_positions; /* rows of cosines and sines */
  int64_t rows;          /* rows of k and v */
  tw_matrix qkv;         /* tokens by (heads + 2 key_heads) head_size, bf16 or fp16 */
  tw_matrix cosines;     /* all_positions by head_size / 2, fp32 */
  tw_matrix sines;       /* likewise */
  /* On the device, for each token: its row of cosines and sines; and that of k and v. Null: token
   * i has row i. A position below 0 is taken for 0, and one behind the tables for their last row.
   * Keys and values of a slot that k and v do not have, below 0 or behind their last row, are not
   * stored. */
  const int32_t* positions;
  const int32_t* slots;
  tw_matrix q; /* tokens by heads * head_size, qkv's type */
  tw_matrix k; /* rows by key_heads * head_size, likewise; rows of no token stay as they are */
  tw_matrix v; /* likewise */
} tw_rotary_problem;

#endif /* TILEWRIGHT_FAMILY_ROTARY_PROBLEM_H */
