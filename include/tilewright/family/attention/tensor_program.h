// The program of attention where scores, weights and sums lie in tensor memory.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/program.h"
#include "tilewright/family/attention/row_softmax.h"
#include "tilewright/family/attention/tensor_rings.h"
#include "tilewright/pipeline/together.h"

namespace tw::kernel {

// The rings of queries, keys and values and the role that fills them are attention's. A tile of the
// work has two tiles of 128 queries, which meet the same keys: while a group weighs the scores of
// one, the tensor core multiplies for the other. One thread issues all products, a group corrects
// sums where a maximum has grown, and stores them at the end.
template <class Kernel>
struct TensorAttention : Attention<Kernel> {
  using Base = Attention<Kernel>;
  using Base::block_keys;
  using typename Base::Keys;
  using typename Base::Op;
  using typename Base::OwnParams;
  using typename Base::Queries;
  using typename Base::ScoreOp;
  using typename Base::Signals;
  using typename Base::Stages;
  using typename Base::Trace;
  using typename Base::Values;
  using Accumulators = typename Kernel::Accumulators;
  static constexpr unsigned tiles = Accumulators::Memory::tiles;
  static constexpr unsigned tile_rows = 128;
  static constexpr unsigned group_threads = 128;
  static_assert(Kernel::config.tiling.m == tiles * tile_rows);

  // Scores of the first block, then in each step those of the next and the sums of the block
  // before, then the sums of the last block.
  class Multiplies {
    using QueryInput = Consumer<Queries, Op::release, Trace>;
    using KeyInput = Consumer<Keys, Op::release, Trace>;
    using ValueInput = Consumer<Values, Op::release, Trace>;

   public:
    TW_DEVICE Multiplies(const OwnParams&, Signals& signals, Stages& stages, unsigned /*group*/,
                         unsigned /*thread*/, Trace trace)
        : queries_(signals.queries, 0, trace.ring(0)),
          keys_(signals.keys, 0, trace.ring(1)),
          values_(signals.values, 0, trace.ring(2)),
          score_op_(Queries::tensors(stages.queries), Keys::tensors(stages.keys)),
          op_(Values::tensors(stages.values)) {}

    TW_DEVICE bool leads() const { return true; }

    template <class Sum>
    TW_DEVICE void multiply(Sum& sum, const WorkTile& tile, const Key& key) {
      if (tile.num_k_tiles() == 0) return;
      auto query = queries_.consume();
      make_scores(sum.writer, query);
      WorkTile blocks = tile;
      blocks.k_begin = tile.k_begin + 1;
      for (const int k : blocks.k_tiles(key)) {
        make_scores(sum.writer, query);
        add_values(sum.writer, k > tile.k_begin + 1);
      }
      query = typename QueryInput::Token();
      add_values(sum.writer, tile.num_k_tiles() > 1);
    }

   private:
    template <class Writer>
    TW_DEVICE void make_scores(Writer& writer, const typename QueryInput::Token& query) {
      const auto stage = keys_.consume();
      TW_UNROLL
      for (unsigned i = 0; i < tiles; ++i) {
        writer.make_scores(i, [&](TensorAddress d) { score_op_.issue(d, i, query, stage); });
      }
    }
    template <class Writer>
    TW_DEVICE void add_values(Writer& writer, bool adds) {
      const auto stage = values_.consume();
      TW_UNROLL
      for (unsigned i = 0; i < tiles; ++i) {
        writer.add_values(i,
                          [&](TensorAddress d, TensorAddress a) { op_.issue(d, a, stage, adds); });
      }
    }

    QueryInput queries_;
    KeyInput keys_;
    ValueInput values_;
    ScoreOp score_op_;
    Op op_;
  };

  // A group for each tile of queries; a thread has a row.
  class Weighs {
    using ValueInput = Consumer<Values, Release::Warp, Trace>;
    static constexpr unsigned clearing_barrier = 3;  // behind that of tensor memory

   public:
    static constexpr bool elected = false;
    static constexpr Role plays = softmax_role;
    static constexpr bool uses_accumulators = true;

    TW_DEVICE Weighs(const OwnParams& params, Signals& signals, Stages& stages,
                     typename Accumulators::Storage& storage, unsigned thread, Trace trace)
        : params_(params),
          group_(isa::shuffle(thread / group_threads, 0)),
          row_(thread % group_threads),
          weigher_(storage, group_, row_),
          softmax_(params.scale, params.softcap, params.sequences.window),
          values_(signals.values, thread % 32, trace),
          value_rows_(Values::tensors(stages.values).rows) {}

    template <bool, class Work>
    TW_DEVICE void load(Work& work, const Key& key) {
      for (const WorkTile tile : work.tiles(key)) {
        const SequenceRows rows = params_.sequences.rows(tile.n);
        const int first =
            tile.first_row(Kernel::config.tiling.m) + static_cast<int>(group_ * tile_rows);
        const int token = first + static_cast<int>(row_);
        softmax_.begin(rows.keys_seen(token, params_.sequences.causal != 0));
        if (tile.num_k_tiles() > 0) weigh_blocks(tile, rows, first, key);
        const float factor = softmax_.finish(sink_of(params_.rows.sinks, tile.batch));
        if (tile.num_k_tiles() > 0) weigher_.send_factor(factor);
        if (params_.rows.log_sums != nullptr && token < tile.m_end) {
          store_element<Space::Global>(
              params_.rows.log_sums + tile.batch * params_.rows.log_sums_pitch + token,
              softmax_.log_sum());
        }
      }
    }
    TW_DEVICE void drain() {}

   private:
    TW_DEVICE void weigh_blocks(const WorkTile& tile, const SequenceRows& rows, int first_row,
                                const Key& key) {
      const bool causal = params_.sequences.causal != 0;
      // Keys that all rows of the group see.
      const int seen = softmax_.caps() ? 0 : rows.keys_seen(first_row, causal);
      const int unseen = params_.sequences.unseen(
          rows.keys_seen(first_row + static_cast<int>(tile_rows) - 1, causal));
      int first_key = (tile.k_end - 1) * int{block_keys};
      for (const int k : tile.k_tiles(key)) {
        float scores[block_keys];
        weigher_.take(scores);
        const bool is_whole = first_key + int{block_keys} <= seen && first_key >= unseen;
        const float factor = is_whole ? softmax_.template compare<false>(scores, first_key)
                                      : softmax_.template compare<true>(scores, first_key);
        if (k > tile.k_begin) weigher_.send_factor(factor);
        softmax_.weigh(scores);
        weigher_.send_weights(scores, [&] {
          if (group_ == 0) clear_values(rows.keys() - first_key);
        });
        first_key -= int{block_keys};
      }
    }
    // What lies behind the last key is another's, and may be no number: zero times that is none.
    // The first group's weights are multiplied first, so that they bring the news.
    TW_DEVICE void clear_values(int keys) {
      const auto stage = values_.consume();
      if (keys >= int{block_keys}) return;
      write_for_products(clearing_barrier, group_threads, [&] {
        clear_rows(value_rows_, stage.slot(), static_cast<unsigned>(keys), row_, group_threads);
      });
    }

    const OwnParams& params_;
    unsigned group_;
    unsigned row_;
    typename Accumulators::template Weigher<Kernel::type> weigher_;
    RowSoftmax<block_keys> softmax_;
    ValueInput values_;
    typename Values::Payload::RingTensors::Rows value_rows_;
  };
  template <unsigned>
  using Own = Weighs;

  // The warps of the epilogue, which correct sums before they store them.
  struct Adds {
    TW_DEVICE Adds(Signals&, Stages&, unsigned, Trace) {}

    template <class Reader, class Storing>
    TW_DEVICE void correct(Reader& reader, Storing& storing, const WorkTile& tile,
                           const Key& key) const {
      const bool multiplied = tile.num_k_tiles() > 0;
      WorkTile blocks = tile;
      blocks.k_begin = multiplied ? tile.k_begin + 1 : tile.k_end;
      for ([[maybe_unused]] const int k : blocks.k_tiles(key)) {
        for (unsigned i = 0; i < tiles; ++i) reader.correct(i);
      }
      WorkTile half = tile;
      for (unsigned i = 0; i < tiles; ++i) {
        const auto sum = reader.finish(i, multiplied);
        if (half.first_row(Kernel::config.tiling.m) < tile.m_end) storing.store(sum, half);
        // It begins where the next does, or earlier.
        half.m += 1;
        half.last_row += int{tile_rows};
      }
    }
  };
};

}  // namespace tw::kernel
