// TileIO: one stage of A and B by TMA, each CTA of a cluster loading its share and sending it to
// the CTAs that need the same.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/clear_rows.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/contracts.h"
#include "tilewright/io/operand.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/isa/ptx/tma_pair.h"

namespace tw {

// How `shares` CTAs load one operand's tile (io/operand_layout.h) together: K-major each its rows;
// MN-major each its boxes or, where these do not divide, its lines of every box.
struct OperandTile {
  unsigned extent;  // m or n
  unsigned spans;
  unsigned span_k;
  Major major;
  unsigned shares;
  unsigned loaded;  // rows loaded; below the extent only where K-major and not shared

  constexpr unsigned boxes() const { return major == Major::K ? 1 : extent / span_k; }  // per span
  constexpr bool shares_boxes() const { return boxes() % shares == 0; }
  // Copies that each of the sharing CTAs issues for a span.
  constexpr unsigned copies() const { return shares_boxes() ? boxes() / shares : boxes(); }
  constexpr unsigned box_lines() const { return major == Major::K ? extent : span_k; }
  // Rows and k of the part of a tile that one copy fills.
  constexpr int box_rows() const {
    return static_cast<int>(major == Major::K ? extent / shares : span_k);
  }
  constexpr int box_k() const {
    return static_cast<int>(major == Major::K || shares_boxes() ? span_k : span_k / shares);
  }
  constexpr TmaBox box() const {
    if (loaded < extent) return {span_k, loaded};
    return {span_k, shares_boxes() ? box_lines() : box_lines() / shares};
  }
  constexpr bool is_legal() const {
    return extent % (major == Major::K ? 8 : span_k) == 0 && box().outer % 8 == 0 &&
           box().outer <= 256 && (shares_boxes() || box_lines() % shares == 0);
  }
};

// One CTA's share of a tile: issue(shared address, inner, outer) for each copy. `first` is the
// tile's row (or column) in the matrix, `k` its k; `share` is which part this CTA loads.
// `destination` is the tile: (row,k,span).
template <OperandTile tile, class Tensor, class Issue>
TW_DEVICE void for_each_copy(const Tensor& destination, int first, int k, unsigned share,
                             const Issue& issue) {
  static_assert(space_of<Tensor> == Space::Window, "Copies of TMA land in shared memory.");
  static_assert(tile.is_legal(),
                "Each CTA's share of a tile must be whole groups of eight lines, at most 256; an "
                "MN-major tile is boxes of 128 bytes.");
  // (row,k,1,row box,k box,span)
  const auto boxes = destination.template tiles<tile.box_rows(), tile.box_k(), 1>();
  TW_UNROLL
  for (unsigned span = 0; span < tile.spans; ++span) {
    TW_UNROLL
    for (unsigned copy = 0; copy < tile.copies(); ++copy) {
      const unsigned in_span = tile.shares_boxes() ? share * tile.copies() + copy : copy;
      const unsigned part = tile.shares_boxes() ? 0 : share;
      const unsigned line = part * tile.box().outer;
      const auto box = tile.major == Major::K
                           ? boxes.slice(whole, whole, whole, part, 0u, span)
                           : boxes.slice(whole, whole, whole, in_span, part, span);
      const int inner = tile.major == Major::K ? k + static_cast<int>(span * tile.span_k)
                                               : first + static_cast<int>(in_span * tile.span_k);
      const int outer = tile.major == Major::K ? first + static_cast<int>(line)
                                               : k + static_cast<int>(span * tile.span_k + line);
      issue(box.address(), inner, outer);
    }
  }
}

template <OperandTile tile, unsigned group, isa::CacheHint hint>
struct OperandCopy {
  // `mask` says who gets it.
  template <class Tensor>
  static TW_DEVICE void load(const Tensor& destination, const TensorMap* map, CopySignal full,
                             int first, int k, int batch, unsigned share, unsigned mask) {
    const auto issue = [&](SharedAddress to, int inner, int outer) {
      const int at[3] = {inner, outer, batch};
      const auto who = static_cast<std::uint16_t>(mask);
      // CTAs that multiply as one signal the leader's barrier, which counts for both.
      if constexpr (tile.shares == 1 && group == 1)
        isa::cp_async_bulk_tensor_load(to, map, full, at, hint);
      else if constexpr (group == 1)
        isa::cp_async_bulk_tensor_load_multicast(to, map, full, at, who, hint);
      else if constexpr (tile.shares == 1)
        isa::cp_async_bulk_tensor_load_pair(to, map, full, at, hint);
      else
        isa::cp_async_bulk_tensor_load_pair_multicast(to, map, full, at, who, hint);
    };
    for_each_copy<tile>(destination, first, k, share, issue);
  }
};

template <Tiling tiling>
class TmaLoader : public UsualLoader {
 protected:
  static constexpr OperandTile a_tile = {tiling.m,       tiling.spans,     tiling.span_k(),
                                         tiling.a_major, tiling.cluster.n, tiling.a_rows()};
  // CTAs that multiply as one have different rows of B, so they do not share them.
  static constexpr OperandTile b_tile = {tiling.b_rows(),
                                         tiling.spans,
                                         tiling.span_k(),
                                         tiling.b_major,
                                         tiling.cluster.m / tiling.group,
                                         tiling.b_rows()};
  using CopyA =
      OperandCopy<a_tile, tiling.group,
                  tiling.a_evict_first ? isa::CacheHint::EvictFirst : isa::CacheHint::EvictNormal>;
  using CopyB =
      OperandCopy<b_tile, tiling.group,
                  tiling.b_evict_first ? isa::CacheHint::EvictFirst : isa::CacheHint::EvictNormal>;
  static_assert(tiling.cluster.m % tiling.group == 0,
                "CTAs that multiply as one stand above each other in a cluster.");
  // Copies that write to this CTA's memory alone, and signal its barriers alone.
  static constexpr bool a_is_own = a_tile.shares == 1 && tiling.group == 1;
  static constexpr bool b_is_own = b_tile.shares == 1 && tiling.group == 1;

 public:
  // Maps of rank 3, innermost dimension first: (k, m, batch) or, MN-major, (m, k, batch); B alike.
  struct Params {
    TensorMap a;
    TensorMap b;
  };
  static constexpr bool elected = true;  // one thread issues the copies
  static constexpr Completion completion = Completion::TransactionBytes;
  static constexpr unsigned arrivals = 1;
  static constexpr unsigned stages_held = 0;
  static constexpr unsigned least_alignment = 16;
  static constexpr bool loads_own_first = tiling.cluster.size() > 1 && (a_is_own || b_is_own);
  static constexpr Tiling in_shared() { return tiling; }
  // Boxes of the tensor maps; along the batch a box is 1.
  static constexpr TmaBox box_a() { return a_tile.box(); }
  static constexpr TmaBox box_b() { return b_tile.box(); }

  // Rows of A that no copy fills, in each of `count` stages: by all `threads` of a CTA, before the
  // start. `a` is (m,k,span,stage).
  static constexpr bool clears = tiling.a_rows() < tiling.m;
  template <class Tensor>
  static TW_DEVICE void clear(const Tensor& a, unsigned count, unsigned thread, unsigned threads) {
    clear_rows<tiling>(a, count, thread, threads);
  }

  TW_DEVICE TmaLoader(const Params& params, unsigned /*thread*/)
      : params_(params), rank_(rank_in<tiling.cluster>()) {
    isa::prefetch_tensormap(&params.a);
    isa::prefetch_tensormap(&params.b);
  }

  // k counts stages.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    load_parts<true, true>(stage, tile, k);
  }
  // The same in two: what reaches this CTA alone, and what others get, too.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_own(const Stage& stage, const WorkTile& tile, int k) {
    load_parts<a_is_own, b_is_own>(stage, tile, k);
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_rest(const Stage& stage, const WorkTile& tile, int k) {
    load_parts<!a_is_own, !b_is_own>(stage, tile, k);
  }

  TW_DEVICE void finish() {}

 protected:
  template <bool with_a, bool with_b, StageToFill Stage, class WorkTile>
  TW_DEVICE void load_parts(const Stage& stage, const WorkTile& tile, int k) {
    const int first_k = k * static_cast<int>(tiling.k());
    if constexpr (with_a) load_a(stage, tile, first_k, tile.batch);
    if constexpr (with_b) load_b(stage, tile, first_k, tile.batch);
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_a(const Stage& stage, const WorkTile& tile, int first_k, int batch) {
    const int row = tile.first_row(tiling.m);
    CopyA::load(stage.tensors().a, &params_.a, stage.full(), row, first_k, batch,
                tiling.cluster.column(rank_), tiling.cluster.row_mask(rank_));
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_b(const Stage& stage, const WorkTile& tile, int first_k, int batch) {
    const int column = tile.first_column(tiling.n) + static_cast<int>(member() * tiling.b_rows());
    CopyB::load(stage.tensors().b, &params_.b, stage.full(), column, first_k, batch,
                tiling.cluster.row(rank_) / tiling.group, b_mask());
  }

  // Which of the CTAs that multiply as one this is.
  TW_DEVICE unsigned member() const {
    if constexpr (tiling.group == 1)
      return 0;
    else
      return tiling.cluster.row(rank_) % tiling.group;
  }
  // The CTAs of the column that have the same rows of B.
  TW_DEVICE unsigned b_mask() const {
    const unsigned column = tiling.cluster.column_mask(rank_);
    if constexpr (tiling.group == 1) return column;
    unsigned members = 0;
    for (unsigned r = 0; r < tiling.cluster.size(); r += tiling.group) members |= 1u << r;
    return column & (members << member());
  }

  const Params& params_;
  unsigned rank_;
};

}  // namespace tw
