// The program of attention: rings of queries, keys and values, two products in every step, and the
// softmax between them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/family/attention/head_tile.h"
#include "tilewright/family/attention/online_softmax.h"
#include "tilewright/family/attention/plan.h"
#include "tilewright/family/attention/rows.h"
#include "tilewright/family/attention/sequences.h"
#include "tilewright/kernel/warp_specialized.h"
#include "tilewright/pipeline/ring_traces.h"
#include "tilewright/pipeline/together.h"

namespace tw {
// The page of a target whose products take bytes along k alone includes it.
template <class From, class To, unsigned warps>
class ByteTranspose;
}  // namespace tw

namespace tw::kernel {

// Memory behind the rings: sums of each group that those of several blocks join.
template <class Op, unsigned groups>
struct JoinedBesideRings {
  static constexpr bool are_there = false;
  struct Stages {};
};
template <class Op, unsigned groups>
requires requires { typename Op::Joined; }
struct JoinedBesideRings<Op, groups> {
  static constexpr bool are_there = true;
  struct Stages {
    typename Op::Joined joined[groups];
  };
  struct Beside {
    const char* name;
    unsigned bytes;
  };
  static constexpr Beside beside[] = {{"joined sums", sizeof(Stages)}};
};

// Groups share a tile of queries, 64 rows each, and meet every block of its keys. In each step one
// group issues two products, the scores of a block and the sum of the block before, and passes the
// turn on: the tensor core works for one group while the others weigh their scores.
template <class Kernel>
struct Attention : JoinedBesideRings<typename Kernel::Op, Kernel::roles.groups> {
  using JoinedBeside = JoinedBesideRings<typename Kernel::Op, Kernel::roles.groups>;
  static constexpr bool joins = JoinedBeside::are_there;
  using Queries = typename Kernel::Queries;
  using Keys = typename Kernel::Keys;
  using Values = typename Kernel::Values;
  using Loader = typename Kernel::Loader;
  using ScoreOp = typename Kernel::ScoreOp;
  using Op = typename Kernel::Op;
  using Trace = typename Kernel::Trace;
  using Order = typename Kernel::StepOrder;
  using LoaderParams = typename Loader::Params;
  using Rows = typename Kernel::Rows;
  using Scales = typename Kernel::Scales;
  // Where a role transposes values, they come into a ring of their own first.
  using LoadedValues = typename Kernel::LoadedValues;
  static constexpr bool transposes = Kernel::transposes;
  // Where values have a role of their own, it has parameters of its own.
  static constexpr bool values_apart = Kernel::values_apart;
  struct NoLoader {};
  struct ValueLoader {
    LoaderParams loader;
  };
  struct OwnParams : Scales, std::conditional_t<values_apart, ValueLoader, NoLoader> {
    typename Kernel::SequencesType sequences;
    float scale;    // multiplies scores, above 0
    float softcap;  // 0: none
    typename Rows::Params rows;
  };
  static constexpr unsigned block_keys = Keys::Payload::tile.rows;

  struct NothingLoaded {};
  struct LoadedStages {
    alignas(1024) typename LoadedValues::Tiles loaded[LoadedValues::stages];
  };
  struct LoadedSignals {
    typename LoadedValues::Barriers loaded;
  };
  struct Stages : std::conditional_t<transposes, LoadedStages, NothingLoaded>,
                  JoinedBeside::Stages {
    alignas(1024) typename Queries::Tiles queries[Queries::stages];
    alignas(1024) typename Keys::Tiles keys[Keys::stages];
    alignas(1024) typename Values::Tiles values[Values::stages];
  };
  struct Signals : std::conditional_t<transposes, LoadedSignals, NothingLoaded> {
    typename Queries::Barriers queries;
    typename Keys::Barriers keys;
    typename Values::Barriers values;
    typename Order::Barriers turns;
  };
  static TW_DEVICE void init(Signals& signals, Stages& stages) {
    Queries::init(signals.queries, stages.queries);
    Keys::init(signals.keys, stages.keys);
    Values::init(signals.values, stages.values);
    if constexpr (transposes) LoadedValues::init(signals.loaded, stages.loaded);
    Order::init(signals.turns);
    if constexpr (joins) {
      for (unsigned group = 0; group < Kernel::roles.groups; ++group) {
        isa::describe_shared(isa::shared_address(&stages.joined[group]), sizeof(stages.joined[0]),
                             "joined sums", group);
      }
    }
  }
  // The ring that values are loaded into, of the stages or of the signals.
  template <class Rings>
  static TW_DEVICE auto& loaded_values(Rings& rings) {
    if constexpr (transposes) {
      return rings.loaded;
    } else {
      return rings.values;
    }
  }
  static constexpr bool clears = false;

  // Queries and keys; and values, unless another role brings them, in the order in which all are
  // multiplied.
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
          keys_(signals.keys, stages.keys, trace.ring(1)),
          values_(loaded_values(signals), loaded_values(stages), trace.ring(2)) {}

    template <bool leads, class Work>
    TW_DEVICE void load(Work& work, const Key& key) {
      for (const WorkTile tile : work.tiles(key)) {
        if constexpr (leads) work.begin();
        if (tile.num_k_tiles() == 0) continue;
        loader_.begin(tile);
        if constexpr (!values_apart) load_queries(tile);
        for (const int k : tile.k_tiles(key)) {
          {
            const auto stage = keys_.produce();
            loader_.keys(stage, k);
          }
          // Each head's queries are a copy of their own; all of them are issued behind the first
          // keys, which take longer to come.
          if constexpr (values_apart) {
            if (k == tile.k_begin) load_queries(tile);
          } else if (k > tile.k_begin) {
            load_values(k - 1);
          }
        }
        if constexpr (!values_apart) load_values(tile.k_end - 1);
      }
    }
    TW_DEVICE void drain() {
      queries_.drain();
      keys_.drain();
      if constexpr (!values_apart) values_.drain();
    }

   private:
    TW_DEVICE void load_queries(const WorkTile& tile) {
      const auto stage = queries_.produce();
      loader_.queries(stage, tile);
    }
    TW_DEVICE void load_values(int k) {
      const auto stage = values_.produce();
      loader_.values(stage, k);
    }
    Loader loader_;
    Producer<Queries, Role::Load, Trace> queries_;
    Producer<Keys, Role::Load, Trace> keys_;
    Producer<LoadedValues, Role::Load, Trace> values_;
  };
  // Values alone: copies of many small boxes are issued by two threads, and neither ring waits for
  // the other.
  class LoadsValues {
   public:
    static constexpr bool elected = Loader::elected;
    static constexpr Role plays = value_role;

    TW_DEVICE LoadsValues(const OwnParams& params, Signals& signals, Stages& stages,
                          unsigned thread, Trace trace)
        : loader_(params.loader, thread), values_(signals.values, stages.values, trace) {}

    template <bool, class Work>
    TW_DEVICE void load(Work& work, const Key& key) {
      for (const WorkTile tile : work.tiles(key)) {
        if (tile.num_k_tiles() == 0) continue;
        loader_.begin(tile);
        for (const int k : tile.k_tiles(key)) {
          const auto stage = values_.produce();
          loader_.values(stage, k);
        }
      }
    }
    TW_DEVICE void drain() { values_.drain(); }

   private:
    Loader loader_;
    Producer<Values, plays, Trace> values_;
  };
  // Values that were loaded, as the tensor core takes them.
  class Transposes {
    using Input = Consumer<LoadedValues, Release::Warp, Trace>;
    static constexpr unsigned warps = Kernel::roles.spec_of(transpose_role).warps;
    using Loaded = typename LoadedValues::Payload::RingTensors::Rows;
    using Transposed = typename Values::Payload::StageTensors::Rows;

   public:
    static constexpr bool elected = false;
    static constexpr Role plays = transpose_role;

    TW_DEVICE Transposes(const OwnParams& params, Signals& signals, Stages& stages, unsigned thread,
                         Trace trace)
        : params_(params),
          input_(loaded_values(signals), thread % 32, trace),
          output_(signals.values, stages.values, trace),
          rows_(LoadedValues::tensors(loaded_values(stages)).rows),
          transpose_(thread) {}

    template <bool, class Work>
    TW_DEVICE void load(Work& work, const Key& key) {
      for (const WorkTile tile : work.tiles(key)) {
        // The first block has the last keys. What lies behind these may be no number.
        int keys = params_.sequences.rows(tile.n).keys() - (tile.k_end - 1) * int{block_keys};
        for ([[maybe_unused]] const int k : tile.k_tiles(key)) {
          auto loaded = input_.consume();
          if (keys < int{block_keys}) clear_from(static_cast<unsigned>(keys), loaded.slot());
          keys = int{block_keys};
          auto stage = output_.produce();
          const auto source = rows_.slice(whole, whole, whole, loaded.slot());
          transpose_.transpose(stage.tensors().rows, source);
        }
      }
    }
    TW_DEVICE void drain() { output_.drain(); }

   private:
    TW_DEVICE void clear_from(unsigned row, unsigned slot) {
      write_for_products(1 + Kernel::roles.groups, warps * 32,
                         [&] { clear_rows(rows_, slot, row, transpose_.thread(), warps * 32); });
    }

    const OwnParams& params_;
    Input input_;
    Producer<Values, plays, Trace> output_;
    Loaded rows_;
    ByteTranspose<Loaded, Transposed, warps> transpose_;
  };
  // Own roles are known by their place in the role table.
  template <unsigned index>
  using Own = std::conditional_t<index == 0, LoadsValues, Transposes>;

  class Multiplies {
    using QueryInput = Consumer<Queries, Op::release, Trace>;
    using KeyInput = Consumer<Keys, Op::release, Trace>;
    using ValueInput = Consumer<Values, Op::release, Trace>;
    using Scores = typename ScoreOp::Accumulator;
    using Weights = typename Op::Operand;
    static constexpr bool ranges = has_ranges<typename Kernel::SequencesType>;
    using Softmax = OnlineSoftmax<Scores, Weights::exponent, ranges>;

   public:
    TW_DEVICE Multiplies(const OwnParams& params, Signals& signals, Stages& stages, unsigned group,
                         unsigned thread, Trace trace)
        : params_(params),
          queries_(signals.queries, Op::speaker(thread), trace.ring(0)),
          keys_(signals.keys, Op::speaker(thread), trace.ring(1)),
          values_(signals.values, Op::speaker(thread), trace.ring(2)),
          order_(signals.turns, group, thread),
          score_op_(Queries::tensors(stages.queries), Keys::tensors(stages.keys),
                    Kernel::group_row(group), thread),
          op_(op_of(stages, group, thread)),
          value_rows_(Values::tensors(stages.values).rows),
          softmax_(params.scale, params.softcap, params.sequences.window, thread),
          rows_(params.rows, thread),
          first_row_(static_cast<int>(Kernel::group_row(group))),
          thread_(thread),
          thread_of_all_(group * Kernel::roles.group_threads() + thread) {}

    TW_DEVICE bool leads() const { return true; }

    // Scores of the first block, then steps of two products, then the sum of the last block. What
    // is in flight at the end of a step would make ptxas serialise all of it: nothing is.
    template <class Sum>
    TW_DEVICE void multiply(Sum& sum, const WorkTile& tile, const Key& key) {
      const SequenceRows rows = params_.sequences.rows(tile.n);
      const int token = tile.first_row(Kernel::config.tiling.m) + first_row_;
      const bool causal = params_.sequences.causal != 0;
      const int upper = static_cast<int>(Sum::row_of(thread_, 0));
      if constexpr (Scales::are_there) {
        softmax_.rescale(params_.scale * params_.of_scores(tile.batch), params_.softcap);
      }
      if constexpr (ranges) {
        softmax_.begin(params_.sequences.range(rows, token + upper),
                       params_.sequences.range(rows, token + upper + int{ThreadRows<Sum>::apart}));
      } else {
        softmax_.begin(rows.keys_seen(token + rows_.token(upper), causal),
                       rows.keys_seen(token + rows_.token(upper + ThreadRows<Sum>::apart), causal));
      }
      sum.clear();
      sum.start();
      if constexpr (joins) op_.begin();
      if (tile.num_k_tiles() > 0) {
        // Block b is k-tile last - b. Blocks from `cut` to `whole` - 1 are seen whole by all rows
        // of the group.
        const int last = tile.k_begin + tile.k_end - 1;
        // None are taken for it where scores are capped.
        KeyRange all = {};
        if constexpr (ranges) all = params_.sequences.ranges(rows, token, 64).all;
        const int seen =
            softmax_.caps() ? 0 : max_of(ranges ? all.end : rows.keys_seen(token, causal), 0);
        const int whole = seen / int{block_keys};
        const int unseen =
            ranges ? all.first
                   : params_.sequences.unseen(rows.keys_seen(token + rows_.last_token(), causal));
        const int cut = (unseen + int{block_keys} - 1) / int{block_keys};
        const int masked_end = min_of(max_of(last + 1 - whole, tile.k_begin + 1), tile.k_end);
        const int free_end = min_of(max_of(last + 1 - cut, masked_end), tile.k_end);
        add_blocks(sum, tile, masked_end, free_end, rows.keys(), key);
      }
      if constexpr (Scales::are_there) {
        const float scale = params_.of_values(tile.batch);
        sum.scale_rows({scale, scale});
      }
      rows_.finish(sum, softmax_, tile, token);
    }

   private:
    static constexpr AttentionPlan order = Kernel::config.plan.checked();
    static constexpr bool upper_only = Kernel::config.upper_rows != 0;
    template <auto value>
    using Constant = std::integral_constant<decltype(value), value>;

    static TW_DEVICE Op op_of(Stages& stages, [[maybe_unused]] unsigned group, unsigned thread) {
      if constexpr (joins) {
        return Op(Values::tensors(stages.values), stages.joined[group], thread);
      } else {
        return Op(Values::tensors(stages.values), thread);
      }
    }

    static TW_DEVICE int max_of(int left, int right) { return left > right ? left : right; }
    static TW_DEVICE int min_of(int left, int right) { return left < right ? left : right; }

    // Rows behind the last key are others' and may hold NaN, which a weight of zero does not hide.
    // Groups clear the next block of values, of which so many rows are seen, together.
    TW_DEVICE void clear_values(unsigned seen) {
      const unsigned slot = values_.await_ahead();
      write_for_products(1 + Kernel::roles.groups, Kernel::roles.multiply.warps * 32, [&] {
        clear_rows(value_rows_, slot, seen, thread_of_all_, Kernel::roles.multiply.warps * 32);
      });
    }

    template <class Sum>
    TW_DEVICE void add_blocks(Sum& sum, const WorkTile& tile, int masked_end, int free_end,
                              int keys, const Key& key) {
      const auto first_key = [&](int k) {
        return (tile.k_begin + tile.k_end - 1 - k) * int{block_keys};
      };
      const int first = first_key(tile.k_begin);
      Scores scores;
      Weights weights;
      auto query = queries_.consume();
      {
        const auto stage = keys_.consume();
        score_op_.issue(scores, query, stage);
        score_op_.template wait<0>(scores);
      }
      softmax_.template compare<true, upper_only>(scores, first);
      softmax_.template weigh<upper_only>(scores, 0);
      softmax_.template weigh<upper_only>(scores, 1);
      weights.take(scores.values(0));
      if constexpr (!Loader::clears_tail && !transposes) {
        if (keys < first + int{block_keys}) clear_values(static_cast<unsigned>(keys - first));
      }
      typename ValueInput::Token value;
      const auto step = [&]<bool masked>(std::bool_constant<masked>, int k, bool is_cut) {
        auto stage = keys_.consume();
        RowPair correction;
        const auto issue = [&]<Act what>(Constant<what>) {
          if constexpr (what == Act::IssueScores) {
            score_op_.issue(scores, query, stage);
          } else {
            value = values_.consume();
            op_.issue(sum, weights, value);
          }
        };
        const auto act = [&]<unsigned i>(Constant<i>) {
          constexpr Act what = order.acts[i];
          if constexpr (order.begins_pair(i)) {
            {
              const auto turn = order_.take();
              issue(Constant<what>());
              if constexpr (!order.turn_for_first) issue(Constant<order.acts[i + 1]>());
            }
            if constexpr (order.turn_for_first) issue(Constant<order.acts[i + 1]>());
          } else if constexpr (order.is_product(what) && !order.ends_pair(i)) {
            const auto turn = order_.take();
            issue(Constant<what>());
          } else if constexpr (what == Act::AwaitScores) {
            score_op_.template wait<order.depth(what)>(scores);
            stage = typename KeyInput::Token();
          } else if constexpr (what == Act::Compare) {
            correction =
                softmax_.template compare<masked, upper_only>(scores, first_key(k), is_cut);
          } else if constexpr (what == Act::WeighUpper || what == Act::WeighLower) {
            constexpr unsigned half = what == Act::WeighUpper ? 0 : 1;
            softmax_.template weigh<upper_only>(scores, half);
            // The compiler would put off what stands before the wait.
            if constexpr (order.is_before(what, Act::AwaitSums)) {
              score_op_.template settle<half>(scores);
            }
          } else if constexpr (what == Act::AwaitSums) {
            if constexpr (order.keys_ahead) {
              if (k + 1 < tile.k_end) keys_.await_ahead();
            }
            op_.template wait<order.depth(what)>(sum, weights);
            value = typename ValueInput::Token();
          } else if constexpr (what == Act::TakeWeights) {
            weights.take(scores.values(0));
          } else if constexpr (what == Act::CorrectSums) {
            if constexpr (joins) {
              op_.correct(sum, correction, first_key(k) / int{block_keys} + 1);
            } else {
              op_.correct(sum, correction);
            }
          }
        };
        [&]<unsigned... i>(std::integer_sequence<unsigned, i...>) { (act(Constant<i>()), ...); }
        (std::make_integer_sequence<unsigned, AttentionPlan::count>());
      };
      // Blocks that masks cut, those that all rows see, and those that a window cuts: each kind of
      // step stands once.
      WorkTile blocks = tile;
      blocks.k_begin = tile.k_begin + 1;
      if constexpr (Kernel::one_loop) {
        for (const int k : blocks.k_tiles(key)) {
          step(std::bool_constant<true>(), k, k < masked_end || k >= free_end);
        }
      } else {
        blocks.k_end = masked_end;
        while (true) {
          for (const int k : blocks.k_tiles(key)) step(std::bool_constant<true>(), k, true);
          if (blocks.k_end == tile.k_end) break;
          blocks.k_begin = masked_end;
          blocks.k_end = free_end;
          for (const int k : blocks.k_tiles(key)) step(std::bool_constant<false>(), k, false);
          blocks.k_begin = free_end;
          blocks.k_end = tile.k_end;
        }
      }
      query = typename QueryInput::Token();
      value = values_.consume();
      op_.issue(sum, weights, value);
      op_.template wait<0>(sum, weights);
      op_.finish(sum);
    }

    const OwnParams& params_;
    QueryInput queries_;
    KeyInput keys_;
    ValueInput values_;
    Order order_;
    ScoreOp score_op_;
    Op op_;
    typename Values::Payload::RingTensors::Rows value_rows_;
    Softmax softmax_;
    Rows rows_;
    int first_row_;
    unsigned thread_;  // its index in the group
    unsigned thread_of_all_;
  };

  // Sums are not handed over.
  struct Adds {
    TW_DEVICE Adds(Signals&, Stages&, unsigned, Trace) {}
  };
};

}  // namespace tw::kernel
