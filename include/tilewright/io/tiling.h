// A CTA's share of a product: the tile, what its operands are, and who shares them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/major.h"
#include "tilewright/io/operand_layout.h"
#include "tilewright/isa/threads.h"
#include "tilewright/number/element_type.h"

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

// A tile is m by span_k, B is n by span_k; a stage holds `spans` of each. A span of K is 128 bytes:
// the widest swizzle.
struct Tiling {
  unsigned m = 128;
  unsigned n = 256;
  unsigned spans = 1;
  ElementType a_type = ElementType::Bf16;
  ElementType b_type = ElementType::Bf16;
  Major a_major = Major::K;
  Major b_major = Major::K;
  ClusterShape cluster = {1, 1};
  // CTAs that multiply as one: each keeps its m rows of A and its share of the n rows of B.
  unsigned group = 1;
  // Rows of A that are loaded at all (0: m); the others are zero. Filling rows outside of a matrix
  // takes TMA longer than reading them.
  unsigned loaded_rows = 0;
  unsigned b_evict_first = 0;  // B is read once: its lines are the first to leave the L2
  unsigned a_evict_first = 0;  // the same of A
  unsigned swap_ab = 0;        // 1: A is the caller's B, and B its A; rows are columns of D
  // 1: the caller's B may be read before the grids before have ended, where it says that none of
  // them writes it.
  unsigned weights_first = 0;

  static constexpr unsigned span_bytes = 128;
  // In shared memory two e2m1 share a byte where both operands are e2m1; else an element of fewer
  // than 8 bits takes a whole one. Units are what a line there consists of.
  constexpr bool is_packed() const {
    return a_type == ElementType::E2m1 && b_type == ElementType::E2m1;
  }
  constexpr unsigned span_units() const { return span_bytes / bytes_of(a_type); }
  constexpr unsigned span_k() const { return span_units() * (is_packed() ? 2 : 1); }
  constexpr unsigned k() const { return spans * span_k(); }              // a stage's
  constexpr unsigned a_bytes() const { return m * spans * span_bytes; }  // a stage's
  constexpr unsigned a_rows() const { return loaded_rows == 0 ? m : loaded_rows; }
  constexpr unsigned b_rows() const { return n / group; }
  constexpr unsigned b_bytes() const { return b_rows() * spans * span_bytes; }
  // In shared memory: (m,k,span) and (n,k,span).
  constexpr Layout a_layout() const {
    return operand_layout(m, span_units(), spans, a_major, bytes_of(a_type));
  }
  constexpr Layout b_layout() const {
    return operand_layout(b_rows(), span_units(), spans, b_major, bytes_of(b_type));
  }
};

}  // namespace tw
