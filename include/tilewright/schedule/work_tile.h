// One output tile and the k-tiles that make it.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw {

namespace kernel {
class Key;
}

// Counts begin .. end - 1.
struct CountRange {
  int first;
  int last;
  struct Iterator {
    int value;
    TW_DEVICE int operator*() const { return value; }
    TW_DEVICE Iterator& operator++() {
      ++value;
      return *this;
    }
    TW_DEVICE bool operator!=(Iterator other) const { return value != other.value; }
  };
  TW_DEVICE Iterator begin() const { return {first}; }
  TW_DEVICE Iterator end() const { return {last}; }
};

struct WorkTile {
  int m;  // tile row and column of this CTA
  int n;
  int k_begin;  // in k-tiles
  int k_end;

  TW_DEVICE int num_k_tiles() const { return k_end - k_begin; }
  // Only skeletons hold a Key: role loops exist once.
  TW_DEVICE CountRange k_tiles(const kernel::Key&) const { return {k_begin, k_end}; }
};

}  // namespace tw
