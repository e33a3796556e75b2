// Sequences of tokens that lie behind each other in one tensor: which rows are whose.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/layout/access.h"

namespace tw {

// One sequence: its rows of queries, and its rows of keys and values.
struct SequenceRows {
  int query_begin;
  int query_end;
  int key_begin;
  int key_end;

  TW_DEVICE int queries() const { return query_end - query_begin; }
  TW_DEVICE int keys() const { return key_end - key_begin; }
  // How many keys, from the sequence's first on, the query at `row` sees. Causal: the last query
  // sees all of them, the one before all but one, and so on; early queries may see none.
  TW_DEVICE int keys_seen(int row, bool causal) const {
    const int seen = causal ? row - query_end + 1 + keys() : keys();
    return seen < keys() ? seen : keys();
  }
};

// Rows of a tile that several heads share, which share keys: each has `room` of them, a multiple of
// 8, of which at most `tokens` are queries.
struct SharedRows {
  int heads;
  int room;
  int tokens;
};

struct Sequences {
  int count;
  // Tokens of every sequence; where lengths stand on the device, of all together.
  int queries;
  int keys;
  // For each sequence the row behind its last, where the next begins; null: all are equally long.
  const std::int32_t* query_ends;
  const std::int32_t* key_ends;
  int causal;  // 1: a query does not see the keys behind it
  int window;  // how many keys a query sees at most, the last ones
  // How many keys each sequence has, of `keys` at most; its rows of keys then count from 0. Null:
  // as above.
  const std::int32_t* key_counts;

  // Keys that a query's window leaves out of the first `seen`, which it would see without.
  TW_DEVICE int unseen(int seen) const { return seen > window ? seen - window : 0; }

  TW_DEVICE SequenceRows rows(int sequence) const {
    if (key_counts != nullptr) {
      return {sequence * queries, (sequence + 1) * queries, 0, end(key_counts, sequence, 0, keys)};
    }
    if (query_ends == nullptr) {
      return {sequence * queries, (sequence + 1) * queries, sequence * keys, (sequence + 1) * keys};
    }
    const int query_begin = begin(query_ends, sequence, queries);
    const int key_begin = begin(key_ends, sequence, keys);
    return {query_begin, end(query_ends, sequence, query_begin, queries), key_begin,
            end(key_ends, sequence, key_begin, keys)};
  }

 protected:
  // Numbers that cannot be are taken as the nearest that can: nothing beside the tensors is ever
  // touched.
  static TW_DEVICE int end(const std::int32_t* ends, int sequence, int least, int most) {
    const int given = load_element<Space::Global>(ends + sequence);
    return given < least ? least : given < most ? given : most;
  }
  static TW_DEVICE int begin(const std::int32_t* ends, int sequence, int most) {
    return sequence == 0 ? 0 : end(ends, sequence - 1, 0, most);
  }
};

// Sequences whose keys lie in pages, and which may have differently many queries.
struct PagedSequences : Sequences {
  TW_DEVICE SequenceRows rows(int sequence) const {
    SequenceRows found = Sequences::rows(sequence);
    if (query_ends != nullptr) {
      found.query_begin = begin(query_ends, sequence, queries);
      found.query_end = end(query_ends, sequence, found.query_begin, queries);
    }
    return found;
  }
};

// Keys from the first to the one before the end, counted from the sequence's first.
struct KeyRange {
  int first;
  int end;
};

// Sequences of which each query says what keys it sees: they are next to each other.
struct RangedSequences : Sequences {
  // For each row of queries.
  const std::int32_t* range_begins;
  const std::int32_t* range_ends;

  // The query at `row` sees these keys, or {0, 0} where it sees none. Numbers outside of the
  // sequence count as the nearest inside.
  TW_DEVICE KeyRange range(const SequenceRows& of, int row) const {
    if (row >= of.query_end) return {0, 0};
    const int first = end(range_begins, row, 0, of.keys());
    const int behind = end(range_ends, row, first, of.keys());
    return first < behind ? KeyRange{first, behind} : KeyRange{0, 0};
  }
  // Keys that some of the queries from `row` on see, and keys that all of them see.
  struct Ranges {
    KeyRange any;
    KeyRange all;
  };
  TW_DEVICE Ranges ranges(const SequenceRows& of, int row, int count) const {
    const int last = row + count < of.query_end ? row + count : of.query_end;
    Ranges found = {{of.keys(), 0}, {0, of.keys()}};
    for (int i = row; i < last; ++i) {
      const KeyRange seen = range(of, i);
      if (seen.first < found.any.first && seen.end > 0) found.any.first = seen.first;
      if (seen.end > found.any.end) found.any.end = seen.end;
      if (seen.first > found.all.first) found.all.first = seen.first;
      if (seen.end < found.all.end) found.all.end = seen.end;
    }
    return found;
  }
};
template <class SequencesType>
inline constexpr bool has_ranges = requires(const SequencesType& sequences) {
  sequences.range_begins;
};

}  // namespace tw
