// One output tile, or a part of its sum, and the k-tiles that make it.
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

struct PieceRange;

struct WorkTile {
  int m;  // tile row and column of this CTA
  int n;
  int batch;
  int m_end;    // rows from here on are not this tile's to store
  int k_begin;  // in k-tiles, of which one fills a stage
  int k_end;
  // The sum is made of `parts` parts, of which this is one; the last part finishes. Parts that do
  // not finish lie in the workspace, part p at slot + p * slot_stride.
  int part = 0;
  int parts = 1;
  int slot = 0;
  int slot_stride = 1;

  // A function of the tile alone: every role agrees whether an epilogue follows.
  TW_DEVICE bool finishes() const { return part + 1 == parts; }
  TW_DEVICE int num_k_tiles() const { return k_end - k_begin; }
  // Only skeletons hold a Key: role loops exist once.
  TW_DEVICE CountRange k_tiles(const kernel::Key&) const { return {k_begin, k_end}; }
  // The tile once, or where sums are promoted, in pieces of `every` k-tiles.
  TW_DEVICE PieceRange sums(const kernel::Key&, int every) const;
};

struct PieceRange {
  WorkTile tile;
  int every;  // 0: the tile is one piece
  struct End {};
  struct Iterator {
    const PieceRange* range;
    int k_begin;
    bool first;
    TW_DEVICE WorkTile operator*() const {
      WorkTile piece = range->tile;
      piece.k_begin = k_begin;
      if (range->every != 0 && piece.k_end - k_begin > range->every) {
        piece.k_end = k_begin + range->every;
      }
      return piece;
    }
    TW_DEVICE Iterator& operator++() {
      k_begin = range->every != 0 ? k_begin + range->every : range->tile.k_end;
      first = false;
      return *this;
    }
    // A tile without k-tiles is still one piece: the sum of nothing.
    TW_DEVICE bool operator!=(End) const {
      return first || (range->every != 0 && k_begin < range->tile.k_end);
    }
  };
  TW_DEVICE Iterator begin() const { return {this, tile.k_begin, true}; }
  TW_DEVICE End end() const { return {}; }
};

TW_DEVICE PieceRange WorkTile::sums(const kernel::Key&, int every) const { return {*this, every}; }

}  // namespace tw
