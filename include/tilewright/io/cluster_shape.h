// The CTAs of a cluster: where they stand, and which of them share an operand.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/threads.h"

namespace tw {

// The CTAs of a cluster as a grid of m by n, and who shares what. Rank r stands at row r % m,
// column r / m % n; CTAs of one row share the A tile, of one column the B tile. `k` such grids make
// parts of the same sums.
struct ClusterShape {
  unsigned m = 1;
  unsigned n = 1;
  unsigned k = 1;

  constexpr unsigned size() const { return m * n * k; }
  constexpr unsigned row(unsigned rank) const { return n * k == 1 ? rank : rank % m; }
  constexpr unsigned column(unsigned rank) const {
    if (n == 1) return 0;
    return k == 1 ? rank / m : rank / m % n;
  }
  constexpr unsigned part(unsigned rank) const { return k == 1 ? 0 : rank / (m * n); }
  constexpr bool same_row_or_column(unsigned rank, unsigned other) const {
    return part(rank) == part(other) && (row(rank) == row(other) || column(rank) == column(other));
  }
  // CTAs, oneself included, that write into one's stages: multicast comes along a row or a column.
  constexpr unsigned sharers() const { return m + n - 1; }
  constexpr unsigned row_mask(unsigned rank) const {
    unsigned mask = 0;
    for (unsigned column = 0; column < n; ++column) mask |= 1u << (row(rank) + m * column);
    return mask << (m * n * part(rank));
  }
  constexpr unsigned column_mask(unsigned rank) const {
    return ((1u << m) - 1) << (m * column(rank) + m * n * part(rank));
  }
  constexpr unsigned sharers_mask(unsigned rank) const {
    return row_mask(rank) | column_mask(rank);
  }
};

template <ClusterShape cluster>
TW_DEVICE unsigned rank_in() {
  if constexpr (cluster.size() == 1)
    return 0;
  else
    return isa::cluster_rank();
}

}  // namespace tw
