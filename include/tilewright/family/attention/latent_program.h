// The program of attention whose values are columns of its keys: one read of memory serves both
// products.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/byte_conversion.h"
#include "tilewright/family/attention/swapped_program.h"

namespace tw::kernel {

// Keys are the rows of products and queries their columns, as in SwappedAttention, but a block of
// keys comes in slices of its columns, each a stage of one ring, and there is no ring of values.
// The scores of a block add up slice by slice, as they come; then the slices that have values are
// multiplied once more, along their rows, by the weights that came of all of them. A block is done
// before the next begins: memory brings a block in about twice the time that it takes, and no stage
// is held for longer than it must be. Keys of 8 bits come into a ring of their own; a role converts
// each slice once for both products.
template <class Kernel>
struct LatentAttention {
  using Queries = typename Kernel::Queries;
  using Keys = typename Kernel::Keys;
  using Loader = typename Kernel::Loader;
  using ScoreOp = typename Kernel::ScoreOp;
  using Op = typename Kernel::Op;
  using Trace = typename Kernel::Trace;
  using Rows = typename Kernel::Rows;
  using Weights = typename Op::Operand;
  using LoaderParams = typename Loader::Params;
  using Scales = typename Kernel::Scales;
  using LoadedKeys = typename Kernel::LoadedKeys;
  static constexpr bool converts = Kernel::converts;
  struct OwnParams : Scales {
    Sequences sequences;
    float scale;    // multiplies scores, above 0
    float softcap;  // 0: none
    typename Rows::Params rows;
  };
  static constexpr unsigned block_keys = Keys::Payload::tile.rows;
  static constexpr unsigned slices = Kernel::config.key_slices;
  // The first of them have values, the last of these perhaps not in all of its columns.
  static constexpr unsigned value_slices = Op::slices;
  static_assert(value_slices <= slices);
  using Softmax = ColumnSoftmax<block_keys, Weights::rows>;
  static constexpr bool transposes = false;
  // Each has a share of the queries, and meets all keys.
  static constexpr unsigned groups = Kernel::roles.groups;
  static_assert(groups == Kernel::config.column_groups() && Kernel::roles.group_threads() == 128);

  struct NothingLoaded {};
  struct LoadedStages {
    alignas(1024) typename LoadedKeys::Tiles loaded[LoadedKeys::stages];
  };
  struct LoadedSignals {
    typename LoadedKeys::Barriers loaded;
  };
  struct Stages : std::conditional_t<converts, LoadedStages, NothingLoaded> {
    alignas(1024) typename Queries::Tiles queries[Queries::stages];
    alignas(1024) typename Keys::Tiles keys[Keys::stages];
    alignas(1024) typename Weights::Tiles weights[groups][Weights::count];
    typename Softmax::Storage columns[groups];
  };
  struct Signals : std::conditional_t<converts, LoadedSignals, NothingLoaded> {
    typename Queries::Barriers queries;
    typename Keys::Barriers keys;
  };
  // The ring that keys are loaded into, of the stages or of the signals.
  template <class Rings>
  static TW_DEVICE auto& loaded_keys(Rings& rings) {
    if constexpr (converts) {
      return rings.loaded;
    } else {
      return rings.keys;
    }
  }
  // Memory of the stages behind the rings.
  struct Beside {
    const char* name;
    unsigned bytes;
  };
  static constexpr Beside beside[] = {{"weights", sizeof(Stages::weights)},
                                      {"columns", sizeof(Stages::columns)}};
  static TW_DEVICE void init(Signals& signals, Stages& stages) {
    Queries::init(signals.queries, stages.queries);
    Keys::init(signals.keys, stages.keys);
    if constexpr (converts) LoadedKeys::init(signals.loaded, stages.loaded);
    for (unsigned group = 0; group < groups; ++group) {
      Weights::init(stages.weights[group]);
      Softmax::init(stages.columns[group]);
    }
  }
  static constexpr bool clears = false;

  // Calls do_with(slice) for the first `count` slices, each a constant.
  template <unsigned count, class Do>
  static TW_DEVICE void each_slice(const Do& do_with) {
    [&]<unsigned... slice>(std::integer_sequence<unsigned, slice...>) {
      (do_with(std::integral_constant<unsigned, slice>()), ...);
    }
    (std::make_integer_sequence<unsigned, count>());
  }

  // Queries come behind the first block of keys, which takes longer.
  class Loads {
   public:
    static constexpr bool elected = Loader::elected;
    static constexpr bool waits = false;
    static constexpr bool begins_alone = false;
    static constexpr Role plays = Role::Load;

    TW_DEVICE Loads(const LoaderParams& params, Signals& signals, Stages& stages, unsigned thread,
                    Trace trace)
        : loader_(params, thread),
          queries_(signals.queries, stages.queries, trace.ring(0)),
          keys_(loaded_keys(signals), loaded_keys(stages), trace.ring(1)) {}

    template <bool leads, class Work>
    TW_DEVICE void load(Work& work, const Key& key) {
      for (const WorkTile tile : work.tiles(key)) {
        if constexpr (leads) work.begin();
        if (tile.num_k_tiles() == 0) continue;
        loader_.begin(tile);
        for (const int k : tile.k_tiles(key)) {
          each_slice<slices>([&](auto slice) {
            const auto stage = keys_.produce();
            loader_.template keys<slice, true>(stage, k);
          });
          if (k == tile.k_begin) {
            const auto stage = queries_.produce();
            loader_.queries(stage, tile);
          }
        }
      }
    }
    TW_DEVICE void drain() {
      queries_.drain();
      keys_.drain();
    }

   private:
    Loader loader_;
    Producer<Queries, Role::Load, Trace> queries_;
    Producer<LoadedKeys, Role::Load, Trace> keys_;
  };
  // Keys that were loaded, as the tensor core takes them.
  class Converts {
    static constexpr unsigned warps = Kernel::roles.spec_of(convert_role).warps;
    using Loaded = typename LoadedKeys::Payload::RingTensors::Rows;
    using Converted = typename Keys::Payload::StageTensors::Rows;

   public:
    static constexpr bool elected = false;
    static constexpr Role plays = convert_role;

    TW_DEVICE Converts(const OwnParams&, Signals& signals, Stages& stages, unsigned thread,
                       Trace trace)
        : input_(loaded_keys(signals), thread % 32, trace),
          output_(signals.keys, stages.keys, trace),
          rows_(LoadedKeys::tensors(loaded_keys(stages)).rows),
          conversion_(thread) {}

    template <bool, class Work>
    TW_DEVICE void load(Work& work, const Key& key) {
      for (const WorkTile tile : work.tiles(key)) {
        for ([[maybe_unused]] const int k : tile.k_tiles(key)) {
          each_slice<slices>([&](auto slice) {
            const auto loaded = input_.consume();
            const auto stage = output_.produce();
            conversion_.template convert<columns_of(decltype(slice)::value)>(
                stage.tensors().rows, rows_.slice(whole, whole, whole, loaded.slot()));
          });
        }
      }
    }
    TW_DEVICE void drain() { output_.drain(); }

   private:
    // The last slice may have more columns than a head.
    static constexpr unsigned columns_of(unsigned slice) {
      constexpr unsigned each = Kernel::config.slice_columns(), all = Kernel::config.head_columns();
      return (slice + 1) * each < all ? each : all - slice * each;
    }

    Consumer<LoadedKeys, Release::Warp, Trace> input_;
    Producer<Keys, plays, Trace> output_;
    Loaded rows_;
    ByteConversion<Loaded, Converted, warps> conversion_;
  };
  // Own roles are known by their place in the role table; values have none.
  template <unsigned index>
  using Own = std::conditional_t<index == 1, Converts, Loads>;

  class Multiplies {
    using QueryInput = Consumer<Queries, Op::release, Trace>;
    using KeyInput = Consumer<Keys, Op::release, Trace>;
    using Scores = typename ScoreOp::Accumulator;
    // Named barriers: one of all groups, and one of each.
    static constexpr unsigned of_all = 1, of_first = 2;

   public:
    TW_DEVICE Multiplies(const OwnParams& params, Signals& signals, Stages& stages, unsigned group,
                         unsigned thread, Trace trace)
        : params_(params),
          queries_(signals.queries, Op::speaker(thread), trace.ring(0)),
          keys_(signals.keys, Op::speaker(thread), trace.ring(1)),
          weights_(stages.weights[group], of_first + group, thread),
          score_op_(Keys::tensors(stages.keys), Queries::tensors(stages.queries), 0, thread,
                    group * Weights::rows),
          op_(Keys::tensors(stages.keys), weights_),
          key_rows_(Keys::tensors(stages.keys).key_rows()),
          softmax_(params.scale, params.softcap, params.sequences.window, stages.columns[group],
                   of_first + group, thread),
          group_(group),
          thread_(thread) {}

    TW_DEVICE bool leads() const { return true; }

    template <class Sum>
    TW_DEVICE void multiply(Sum& sum, const WorkTile& tile, const Key& key) {
      const SequenceRows rows = params_.sequences.rows(tile.n);
      const int token = tile.first_row(Kernel::config.tiling.m);
      const bool causal = params_.sequences.causal != 0;
      const Rows of_tile(params_.rows, thread_, group_);
      if constexpr (Scales::are_there) {
        softmax_.rescale(params_.scale * params_.of_scores(tile.batch), params_.softcap);
      }
      softmax_.begin([&](int row) {
        return rows.keys_seen(token + of_tile.token(of_tile.first_row() + row), causal);
      });
      sum.clear();
      sum.start();
      if (tile.num_k_tiles() > 0) add_blocks(sum, tile, rows.keys(), key);
      if constexpr (Scales::are_there) {
        typename Softmax::Numbers factors;
        for (float& factor : factors.of) factor = params_.of_values(tile.batch);
        Op::correct(sum, factors);
      }
      // The compiler does not know that the thread is this one: it would keep what follows from
      // that in registers over all blocks.
      Rows(params_.rows, isa::shuffle(thread_, thread_ % 32), group_)
          .template finish<Op>(sum, softmax_, tile, token);
    }

   private:
    template <class Sum>
    TW_DEVICE void add_blocks(Sum& sum, const WorkTile& tile, int keys, const Key& key) {
      const auto query = queries_.consume();
      Scores scores;
      for (const int k : tile.k_tiles(key)) {
        const int first = (tile.k_begin + tile.k_end - 1 - k) * int{block_keys};
        typename KeyInput::Token stages[slices];
        each_slice<slices>([&](auto slice) {
          stages[slice] = keys_.consume();
          score_op_.template issue<slice>(scores, stages[slice], query);
        });
        score_op_.template wait<0>(scores);
        Op::correct(sum, softmax_.next(scores, first));
        if (keys < first + int{block_keys}) clear_from(static_cast<unsigned>(keys - first), stages);
        weights_.take(scores);
        each_slice<value_slices>(
            [&](auto slice) { op_.template issue<slice>(sum, stages[slice], weights_); });
        each_slice<value_slices>([&](auto slice) {
          Op::template wait_for_reads<value_slices - 1 - slice>();
          stages[slice] = typename KeyInput::Token();
        });
        op_.wait(sum);
      }
    }

    // What lies behind the last key is another's, and may be no number: zero times that is none.
    // All warps of a group have met since their scores were there, and meet again for the weights,
    // with a fence for the tensor core.
    TW_DEVICE void clear_from(unsigned row,
                              const typename KeyInput::Token (&stages)[slices]) const {
      const auto clear = [&] {
        TW_UNROLL
        for (unsigned slice = 0; slice < value_slices; ++slice) {
          clear_rows(key_rows_, stages[slice].slot(), row, group_ * 128 + thread_, 128 * groups);
        }
      };
      if constexpr (groups == 1) {
        clear();
      } else {
        write_for_threads(of_all, 128 * groups, [] {});
        write_for_products(of_all, 128 * groups, clear);
      }
    }

    const OwnParams& params_;
    QueryInput queries_;
    KeyInput keys_;
    Weights weights_;
    ScoreOp score_op_;
    Op op_;
    typename Keys::Payload::KeyRows key_rows_;
    Softmax softmax_;
    unsigned group_;
    unsigned thread_;
  };

  // Sums are not handed over.
  struct Adds {
    TW_DEVICE Adds(Signals&, Stages&, unsigned, Trace) {}
  };
};

}  // namespace tw::kernel
