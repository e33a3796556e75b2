// Tensor memory of attention: scores, weights and sums of two tiles of queries, and the rings
// between the thread that multiplies, the groups that weigh and the group that corrects.
#pragma once

#include <bit>
#include <cmath>

#include "tilewright/accumulator/tensor.h"
#include "tilewright/base/annotate.h"
#include "tilewright/isa/convert.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/layout/shared_tile.h"
#include "tilewright/pipeline/mbarrier.h"
#include "tilewright/pipeline/ring.h"
#include "tilewright/pipeline/tensor_scope.h"

namespace tw {

// Weighs scores: a group of four warps for each tile of queries, whose threads have a row each.
inline constexpr Role softmax_role = "softmax";

// Every ring has a stage for each tile of queries; what is in them, in each block of keys:
//
//   scores   tensor core -> softmax    queries by keys
//   weights  softmax -> tensor core    A of the second product
//   sums     tensor core -> epilogue   what is summed up; corrected, or at the end stored
//   factors  softmax -> epilogue       what sums are multiplied by before the next block; at the
//                                      end, before they are stored
//
// Nothing of a tile lies over anything else of it: the tensor core may make the next scores while
// weights are read, and PTX orders no product behind another one's A.
template <unsigned n, unsigned keys>
struct AttentionTensorMemory {
  static constexpr unsigned tiles = 2;
  static constexpr unsigned group_warps = 4;
  static constexpr unsigned tile_columns = 256;
  static constexpr unsigned weights_at = n;
  static constexpr unsigned scores_at = tile_columns - keys;
  static_assert(keys % 16 == 0 && n + keys / 2 <= scores_at,
                "Sums, weights and scores of two tiles must fit tensor memory: 256 columns each.");
  static TW_DEVICE constexpr unsigned column_of(unsigned tile) { return tile * tile_columns; }

  // scores.full: arrives the commit of the product, 1; waited by the group's four warps.
  // scores.empty: arrive these warps, 4, when they have the scores in registers; waited by the
  // thread that multiplies.
  struct Scores {
    static constexpr Space space = Space::Tensor;
    static constexpr const char* name = "scores";
    static constexpr const char* full_name = "scores.full";
    static constexpr const char* empty_name = "scores.empty";
    struct Tiles {};
    static constexpr Part parts[1] = {
        {0, Completion::Commit, {Role::Multiply, 1}, {{softmax_role, group_warps}}}};
  };
  // weights.full: arrive the group's warps, 4, when their stores are done; waited by the thread
  // that multiplies. weights.empty: arrives the commit of the product that reads them, 1; waited by
  // the group's warps.
  struct Weights {
    static constexpr Space space = Space::Tensor;
    static constexpr const char* name = "weights";
    static constexpr const char* full_name = "weights.full";
    static constexpr const char* empty_name = "weights.empty";
    struct Tiles {};
    static constexpr Part parts[1] = {
        {0, Completion::WarpsArrive, {softmax_role, group_warps}, {{Role::Multiply, 1}}}};
  };
  // sums.full: arrives the commit of the product, 1; waited by the four warps of the epilogue.
  // sums.empty: arrive these warps, 4, when they have corrected or read the sums; waited by the
  // thread that multiplies.
  struct Sums {
    static constexpr Space space = Space::Tensor;
    static constexpr const char* name = "sums";
    static constexpr const char* full_name = "sums.full";
    static constexpr const char* empty_name = "sums.empty";
    struct Tiles {};
    static constexpr Part parts[1] = {
        {0, Completion::Commit, {Role::Multiply, 1}, {{Role::Epilogue, group_warps}}}};
  };
  // factors.full: arrive the group's warps, 4; waited by the four warps of the epilogue.
  // factors.empty: arrive these warps, 4; waited by the group's.
  struct Factors {
    static constexpr Space space = Space::Shared;
    static constexpr const char* name = "factors";
    static constexpr const char* full_name = "factors.full";
    static constexpr const char* empty_name = "factors.empty";
    struct Tiles {
      alignas(16) float of_row[32 * group_warps];
    };
    // (row) of a stage, (row,stage) of the ring.
    static constexpr Layout rows = single(32 * group_warps, 1);
    using StageTensors = SharedTile<float, rows>;
    using RingTensors = SharedTile<float, from_modes(rows, single(tiles, 32 * group_warps))>;
    static constexpr Part parts[1] = {{sizeof(Tiles),
                                       Completion::WarpsArrive,
                                       {softmax_role, group_warps},
                                       {{Role::Epilogue, group_warps}}}};
  };
  template <class Payload>
  using RingOf = Ring<Payload, tiles, Mbarriers>;
  using Scope = TensorScope<tiles * tile_columns, (1 + tiles) * group_warps>;
  static TW_DEVICE NoTrace no_trace() { return {{}, 0, false}; }

  struct Storage {
    typename RingOf<Scores>::Barriers scores;
    typename RingOf<Weights>::Barriers weights;
    typename RingOf<Sums>::Barriers sums;
    typename RingOf<Factors>::Barriers factors;
    typename Factors::Tiles factor_tiles[tiles];
    typename Scores::Tiles score_tiles[tiles];
    typename Weights::Tiles weight_tiles[tiles];
    typename Sums::Tiles sum_tiles[tiles];
    typename Scope::Storage scope;
  };
  static TW_DEVICE void init(Storage& storage) {
    Mbarriers::init<RingOf<Scores>>(storage.scores);
    Mbarriers::init<RingOf<Weights>>(storage.weights);
    Mbarriers::init<RingOf<Sums>>(storage.sums);
    RingOf<Factors>::init(storage.factors, storage.factor_tiles);
  }
};

// The accumulators of the skeleton: `Memory` is an AttentionTensorMemory.
template <unsigned n, unsigned keys>
struct AttentionAccumulators {
  using Memory = AttentionTensorMemory<n, keys>;
  template <class Payload>
  using RingOf = typename Memory::template RingOf<Payload>;
  static constexpr int promote_every = 0;

  using Storage = typename Memory::Storage;
  static TW_DEVICE void init(Storage& storage) { Memory::init(storage); }
  static TW_DEVICE void leave() {}

  class Scope : public Memory::Scope::Owner {
   public:
    TW_DEVICE explicit Scope(Storage& storage) : Memory::Scope::Owner(storage.scope) {}
  };

  // The one thread that multiplies. Tiles of queries take turns in every ring.
  class Writer {
    using ScoreOutput = Producer<RingOf<typename Memory::Scores>, Role::Multiply, NoTrace>;
    using WeightInput = Consumer<RingOf<typename Memory::Weights>, Release::Commit, NoTrace>;
    using SumOutput = Producer<RingOf<typename Memory::Sums>, Role::Multiply, NoTrace>;

   public:
    TW_DEVICE Writer(const Scope& scope, Storage& storage)
        : address_(scope.address()),
          scores_(storage.scores, storage.score_tiles, Memory::no_trace()),
          weights_(storage.weights, 0, Memory::no_trace()),
          sums_(storage.sums, storage.sum_tiles, Memory::no_trace()) {}

    // The memory of a tile of the work, in whose blocks products go round.
    struct Tile {
      Writer& writer;
    };
    TW_DEVICE Tile acquire() { return {*this}; }

    // multiply(d) makes the scores of a tile of queries.
    template <class Multiply>
    TW_DEVICE void make_scores(unsigned tile, const Multiply& multiply) {
      const auto stage = scores_.produce();
      multiply(at(tile) + Memory::scores_at);
    }
    // multiply(d, a) adds its weighted values to the sums.
    template <class Multiply>
    TW_DEVICE void add_values(unsigned tile, const Multiply& multiply) {
      const auto weights = weights_.consume();
      const auto sum = sums_.produce();
      multiply(at(tile), at(tile) + Memory::weights_at);
    }
    // Then all sums were read, and the memory may be freed: before a product adds to them, its
    // weights were awaited, and whoever writes weights has read the scores.
    TW_DEVICE void drain(bool /*leads*/) { sums_.drain(); }

   private:
    TW_DEVICE TensorAddress at(unsigned tile) const { return address_ + Memory::column_of(tile); }

    TensorAddress address_;
    ScoreOutput scores_;
    WeightInput weights_;
    SumOutput sums_;
  };

  // Sums of a tile of queries, each row times its factor; let go when their last column was read.
  struct Scaled : TensorSums<n, float> {
    using Token = typename Consumer<RingOf<typename Memory::Sums>, Release::Warp, NoTrace>::Token;
    float factor;
    mutable Token token;
    TW_DEVICE Scaled(TensorAddress address, bool multiplied, float by, Token&& held)
        : TensorSums<n, float>{address, multiplied}, factor(by), token(std::move(held)) {}
    TW_DEVICE void load(int first_column, float (&values)[32]) const {
      TensorSums<n, float>::load(first_column, values);
      TW_UNROLL
      for (unsigned i = 0; i < 32; ++i) values[i] *= factor;
    }
    TW_DEVICE void has_read(unsigned columns_read) const {
      if (columns_read == n) token.let_go();
    }
    TW_DEVICE void is_read() const { token.forget(); }
  };

  // The warps of the epilogue.
  class Reader {
    using SumInput = Consumer<RingOf<typename Memory::Sums>, Release::Warp, NoTrace>;
    using FactorInput = Consumer<RingOf<typename Memory::Factors>, Release::Warp, NoTrace>;

   public:
    TW_DEVICE Reader(Storage& storage, unsigned thread)
        : sums_(storage.sums, thread % 32, Memory::no_trace()),
          factors_(storage.factors, thread % 32, Memory::no_trace()),
          factor_rows_(RingOf<typename Memory::Factors>::tensors(storage.factor_tiles)),
          thread_(thread),
          address_(Memory::Scope::lanes_of(storage.scope, thread)) {}

    // Multiplies the sums of a tile of queries by the factors of the next block. Most maxima do not
    // grow: a warp all of whose factors are 1 leaves its sums as they are.
    TW_DEVICE void correct(unsigned tile) {
      const auto sum = sums_.consume();
      const float factor = next_factor();
      float smallest = factor;
      TW_UNROLL
      for (unsigned distance = 16; distance > 0; distance /= 2) {
        const auto other =
            isa::shuffle(std::bit_cast<std::uint32_t>(smallest), thread_ % 32 ^ distance);
        smallest = std::fmin(smallest, std::bit_cast<float>(other));
      }
      if (smallest == 1) return;
      TW_ROLL
      for (unsigned first = 0; first < n; first += 32) {
        std::uint32_t values[32];
        const TensorAddress at = address_ + Memory::column_of(tile) + first;
        isa::tcgen05_load<32>(values, at);
        isa::tcgen05_wait_load();
        TW_UNROLL
        for (unsigned i = 0; i < 32; ++i) {
          values[i] = std::bit_cast<std::uint32_t>(std::bit_cast<float>(values[i]) * factor);
        }
        isa::tcgen05_store<32>(at, values);
      }
      isa::tcgen05_wait_store();
    }
    // The whole sums of a tile of queries; without keys, zeros.
    TW_DEVICE Scaled finish(unsigned tile, bool multiplied) {
      const TensorAddress address = address_ + Memory::column_of(tile);
      if (!multiplied) return {address, false, 0, {}};
      auto sum = sums_.consume();
      const float factor = next_factor();
      return {address, true, factor, std::move(sum)};
    }

   private:
    TW_DEVICE float next_factor() {
      const auto stage = factors_.consume();
      return std::bit_cast<float>(isa::load_shared_4(factor_rows_.address(thread_, stage.slot())));
    }

    SumInput sums_;
    FactorInput factors_;
    typename Memory::Factors::RingTensors factor_rows_;
    unsigned thread_;
    TensorAddress address_;
  };

  // A group that weighs the scores of its tile of queries, and skips those of the other.
  template <ElementType type>
  class Weigher {
    using ScoreInput = Consumer<RingOf<typename Memory::Scores>, Release::Warp, NoTrace>;
    using WeightOutput = Producer<RingOf<typename Memory::Weights>, softmax_role, NoTrace>;
    using FactorOutput = Producer<RingOf<typename Memory::Factors>, softmax_role, NoTrace>;
    static constexpr unsigned piece = 16;

   public:
    TW_DEVICE Weigher(Storage& storage, unsigned tile, unsigned thread)
        : scores_(storage.scores, thread % 32, Memory::no_trace()),
          weights_(storage.weights, storage.weight_tiles, Memory::no_trace()),
          factors_(storage.factors, storage.factor_tiles, Memory::no_trace()),
          thread_(thread),
          address_(Memory::Scope::lanes_of(storage.scope, thread) + Memory::column_of(tile)) {
      if (tile == 0) return;
      scores_.skip(1);
      weights_.pass();
      factors_.pass();
    }

    // The next scores of the thread's row: the tensor core may make others at once.
    TW_DEVICE void take(float (&values)[keys]) {
      std::uint32_t bits[keys / piece][piece];
      {
        const auto stage = scores_.consume();
        TW_UNROLL
        for (unsigned i = 0; i < keys / piece; ++i) {
          isa::tcgen05_load<piece>(bits[i], address_ + Memory::scores_at + i * piece);
        }
        isa::tcgen05_wait_load();
      }
      scores_.skip(1);
      TW_UNROLL
      for (unsigned i = 0; i < keys; ++i)
        values[i] = std::bit_cast<float>(bits[i / piece][i % piece]);
    }
    // What the sums so far are multiplied by.
    TW_DEVICE void send_factor(float factor) {
      {
        const auto stage = factors_.produce();
        isa::store_shared_4(stage.tensors().address(thread_), std::bit_cast<std::uint32_t>(factor));
      }
      factors_.pass();
    }
    // The weights of the row, two in a column. write() is called before they are announced: with
    // them goes what the products that read them must find.
    template <class Write>
    TW_DEVICE void send_weights(const float (&values)[keys], const Write& write) {
      {
        const auto stage = weights_.produce();
        TW_UNROLL
        for (unsigned first = 0; first < keys / 2; first += piece / 2) {
          std::uint32_t packed[piece / 2];
          TW_UNROLL
          for (unsigned i = 0; i < piece / 2; ++i) {
            const float* const pair = values + 2 * (first + i);
            packed[i] = type == ElementType::Bf16 ? isa::cvt_bf16x2(pair[0], pair[1])
                                                  : isa::cvt_f16x2(pair[0], pair[1]);
          }
          isa::tcgen05_store<piece / 2>(address_ + Memory::weights_at + first, packed);
        }
        write();
        isa::tcgen05_wait_store();
      }
      weights_.pass();
    }

   private:
    ScoreInput scores_;
    WeightOutput weights_;
    FactorOutput factors_;
    unsigned thread_;
    TensorAddress address_;
  };
};

}  // namespace tw
