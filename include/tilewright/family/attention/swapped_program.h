// The program of attention with few queries: keys are the rows of the products, queries their
// columns.
#pragma once

#include <array>
#include <type_traits>

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/cluster_rows.h"
#include "tilewright/family/attention/program.h"
#include "tilewright/family/attention/swapped_softmax.h"
#include "tilewright/family/attention/swapped_weights.h"

namespace tw::kernel {

// The rings and the roles that fill them are attention's. One group multiplies: each block of keys
// by the queries, and the columns of its values by the weights that came of it. So a product has as
// many columns as there are queries, and no rows that are nobody's.
template <class Kernel>
struct SwappedAttention : Attention<Kernel> {
  using Base = Attention<Kernel>;
  using Base::block_keys;
  using typename Base::Keys;
  using typename Base::Op;
  using typename Base::OwnParams;
  using typename Base::Queries;
  using typename Base::Scales;
  using typename Base::ScoreOp;
  using typename Base::Signals;
  using typename Base::Trace;
  using typename Base::Values;
  using Weights = typename Op::Operand;
  static constexpr unsigned n = Weights::rows;
  using Softmax = ColumnSoftmax<block_keys, n>;
  static_assert(Kernel::roles.groups == 1 && Kernel::roles.group_threads() == 128,
                "One warpgroup has all columns.");

  using Rows = typename Kernel::Rows;
  static constexpr bool joins_in_cluster = Kernel::parts_in_cluster;

  struct StagesAlone : Base::Stages {
    alignas(1024) typename Weights::Tiles weights[Weights::count];
    typename Softmax::Storage columns;
  };
  template <class RowsOfCluster>
  struct StagesOfCluster : StagesAlone {
    alignas(1024) typename RowsOfCluster::Exchanged::Storage shares;
  };
  using Stages = std::conditional_t<joins_in_cluster, StagesOfCluster<Rows>, StagesAlone>;
  // Memory of the stages behind the rings.
  struct Beside {
    const char* name;
    unsigned bytes;
  };
  static constexpr auto beside = [] {
    const Beside weights = {"weights", sizeof(Stages::weights)};
    const Beside columns = {"columns", sizeof(Stages::columns)};
    if constexpr (joins_in_cluster) {
      return std::array{weights, columns, Beside{"shares", sizeof(Stages::shares)}};
    } else {
      return std::array{weights, columns};
    }
  }();
  static TW_DEVICE void init(Signals& signals, Stages& stages) {
    Base::init(signals, stages);
    Weights::init(stages.weights);
    Softmax::init(stages.columns);
    if constexpr (joins_in_cluster) Rows::Exchanged::init(stages.shares);
  }

  class Multiplies {
    using QueryInput = Consumer<Queries, Op::release, Trace>;
    using KeyInput = Consumer<Keys, Op::release, Trace>;
    using ValueInput = Consumer<Values, Op::release, Trace>;
    using Scores = typename ScoreOp::Accumulator;
    static constexpr unsigned barrier = 2;  // the group's

   public:
    TW_DEVICE Multiplies(const OwnParams& params, Signals& signals, Stages& stages,
                         unsigned /*group*/, unsigned thread, Trace trace)
        : params_(params),
          queries_(signals.queries, Op::speaker(thread), trace.ring(0)),
          keys_(signals.keys, Op::speaker(thread), trace.ring(1)),
          values_(signals.values, Op::speaker(thread), trace.ring(2)),
          weights_(stages.weights, barrier, thread),
          score_op_(Keys::tensors(stages.keys), Queries::tensors(stages.queries), 0, thread),
          op_(Values::tensors(stages.values), weights_, thread),
          query_rows_(Queries::tensors(stages.queries).rows),
          value_rows_(Values::tensors(stages.values).rows),
          softmax_(params.scale, params.softcap, params.sequences.window, stages.columns, barrier,
                   thread),
          rows_(params.rows, thread),
          stages_(stages),
          thread_(thread) {}

    TW_DEVICE bool leads() const { return true; }

    template <class Sum>
    TW_DEVICE void multiply(Sum& sum, const WorkTile& tile, const Key& key) {
      const SequenceRows rows = params_.sequences.rows(tile.n);
      const int token = tile.first_row(Kernel::config.tiling.m);
      const bool causal = params_.sequences.causal != 0;
      if constexpr (Scales::are_there) {
        softmax_.rescale(params_.scale * params_.of_scores(tile.batch), params_.softcap);
      }
      if constexpr (joins_in_cluster) rows_.template begin<Op>(tile, token);
      softmax_.begin([&](int row) { return rows.keys_seen(token + rows_.token(row), causal); });
      sum.clear();
      sum.start();
      if (tile.num_k_tiles() > 0) add_blocks(sum, tile, rows.keys(), key);
      if constexpr (Scales::are_there) {
        typename Softmax::Numbers factors;
        for (float& factor : factors.of) factor = params_.of_values(tile.batch);
        Op::correct(sum, factors);
      }
      if constexpr (joins_in_cluster) {
        rows_.template finish<Op>(sum, softmax_, tile, token,
                                  ShareExchange<typename Rows::Exchanged>(stages_.shares, thread_));
      } else {
        rows_.template finish<Op>(sum, softmax_, tile, token);
      }
    }

   private:
    // Scores of the first block, then steps of two products, then the sum of the last block. What
    // is in flight at the end of a step would make ptxas serialise all of it: nothing is.
    template <class Sum>
    TW_DEVICE void add_blocks(Sum& sum, const WorkTile& tile, int keys, const Key& key) {
      const auto first_key = [&](int k) {
        return (tile.k_begin + tile.k_end - 1 - k) * int{block_keys};
      };
      Scores scores;
      auto query = queries_.consume();
      if constexpr (requires { requires ScoreOp::arranges_queries; }) {
        write_for_products(barrier, 128,
                           [&] { ScoreOp::arrange(query_rows_, query.slot(), thread_); });
      }
      {
        const auto stage = keys_.consume();
        score_op_.issue(scores, stage, query);
        score_op_.template wait<0>(scores);
      }
      const int first = first_key(tile.k_begin);
      softmax_.next(scores, first);
      weights_.take(scores);
      auto value = values_.consume();
      // What lies behind the last key is another's, and may be no number: zero times that is none.
      if (keys < first + int{block_keys}) {
        write_for_products(barrier, 128, [&] {
          clear_rows(value_rows_, value.slot(), static_cast<unsigned>(keys - first), thread_, 128);
        });
      }
      WorkTile blocks = tile;
      blocks.k_begin = tile.k_begin + 1;
      for (const int k : blocks.k_tiles(key)) {
        auto stage = keys_.consume();
        score_op_.issue(scores, stage, query);
        op_.issue(sum, value, weights_);
        score_op_.template wait<1>(scores);
        stage = typename KeyInput::Token();
        const auto corrections = softmax_.next(scores, first_key(k));
        op_.wait(sum);
        value = typename ValueInput::Token();
        Op::correct(sum, corrections);
        weights_.take(scores);
        value = values_.consume();
      }
      query = typename QueryInput::Token();
      op_.issue(sum, value, weights_);
      op_.wait(sum);
    }

    const OwnParams& params_;
    QueryInput queries_;
    KeyInput keys_;
    ValueInput values_;
    Weights weights_;
    ScoreOp score_op_;
    Op op_;
    typename Queries::Payload::RingTensors::Rows query_rows_;
    typename Values::Payload::RingTensors::Rows value_rows_;
    Softmax softmax_;
    Rows rows_;
    Stages& stages_;
    unsigned thread_;
  };
};

}  // namespace tw::kernel
