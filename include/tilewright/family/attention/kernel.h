// Attention: O = softmax(scale Q K^T) V for each head, with keys and values shared by groups of
// heads, sequences of different lengths, causal masks and windows, capped scores and sinks.
#pragma once

#include "tilewright/bind/choices.h"
#include "tilewright/epilogue/fragment_loop.h"
#include "tilewright/epilogue/tree.h"
#include "tilewright/family/attention/decode_tiles.h"
#include "tilewright/family/attention/head_tile.h"
#include "tilewright/family/attention/program.h"
#include "tilewright/family/attention/tiles.h"
#include "tilewright/kernel/contracts.h"
#include "tilewright/kernel/left_out.h"
#include "tilewright/schedule/reduction.h"

namespace tw {

// Pages include these where kernels of theirs use them.
template <unsigned groups, unsigned group_warps>
class Turns;
namespace kernel {
template <class Kernel>
struct SwappedAttention;
template <class Kernel>
struct LatentAttention;
template <ElementType type, unsigned columns, unsigned n, unsigned groups, bool foresees>
class SwappedHeads;
template <ElementType type, unsigned columns, unsigned n>
class ClusterHeads;
}  // namespace kernel

struct AttentionConfig {
  // A tile of the output has m queries, 64 for each warpgroup, by n columns of a head.
  Tiling tiling = {.m = 128, .n = 128};
  unsigned keys = 128;                     // keys in a block
  unsigned head = 0;                       // columns of queries and keys; 0: as many as of values
  ElementType d_type = ElementType::Bf16;  // what is multiplied, and the output
  unsigned from_e4m3 = 0;                  // 1: queries, keys and values are e4m3 in memory
  unsigned e4m3_products = 0;  // 1: and so they are multiplied, and the weights of values as well
  // Blocks whose sums add up in the tensor core, which keeps 13 bits of fraction of sums of e4m3,
  // before they join the others in float32: of one block these are in registers, of several in
  // shared memory. 0: all do, and none join.
  unsigned summed_blocks = 1;
  unsigned e4m3_keys = 0;  // 1: keys and values alone are e4m3, and become bf16 in registers
  Scheduling scheduling = Scheduling::Static;
  unsigned turns = 1;       // 0: groups issue their products as they come
  unsigned key_stages = 0;  // 0: two, or where keys are taken in parts as many as there is room for
  unsigned value_stages = 0;    // the same; of keys that are converted, stages of their bytes
  unsigned staged_bytes = 128;  // a piece of an output row: 64 leave room for more keys
  unsigned stagger = 0;         // groups share every tile from its beginning
  unsigned dependent_launch = 0;
  AttentionPlan plan = attention_plan::halved_ahead;  // a step's order
  // Heads that share keys are rows of one tile, and a tile has a part of the keys: so many blocks.
  // 0: a tile has one head and all its keys.
  unsigned part_blocks = 0;
  unsigned keeps_keys = 1;  // 0: keys and values that are read once leave the L2 cache first
  // 1: of each 16 rows of a tile the first 8 alone are queries, where few heads share keys; the
  // others are not weighed.
  unsigned upper_rows = 0;
  // 1: keys are the rows of products and queries their columns, m of them.
  unsigned swapped = 0;
  // 1: values are the first columns of keys, which are read once for both, in slices of their
  // columns.
  unsigned values_in_keys = 0;
  unsigned key_slices = 1;
  // 1: keys and values lie in pages.
  unsigned pages = 0;
  // 1: each query says which keys it sees.
  unsigned ranges = 0;
  // CTAs that share an SM: while one of them waits for its first keys or stores, the others
  // multiply. Where there are several, and none asks for work, each has one tile.
  unsigned residents = 1;
  // 1: the parts of a tile's keys are the CTAs of a cluster, which join them through their shared
  // memory; the launch says how many.
  unsigned parts_in_cluster = 0;
  Tracing tracing = Tracing::Off;

  // Where queries are columns, a warpgroup has up to 32 of those whose sums are long.
  constexpr unsigned column_groups() const { return values_in_keys != 0 && tiling.m > 32 ? 2 : 1; }
  constexpr unsigned group_columns() const { return tiling.m / column_groups(); }
  constexpr unsigned head_columns() const { return head != 0 ? head : tiling.n; }
  // A slice of keys has whole lines of 128 bytes in memory, the last perhaps more than there are.
  constexpr bool has_bytes_of_values() const { return values_in_keys != 0 && e4m3_keys != 0; }
  constexpr unsigned slice_columns() const {
    if (!has_bytes_of_values()) return head_columns() / key_slices;
    return ((head_columns() + 127) / 128 + key_slices - 1) / key_slices * 128;
  }
  // Keys whose products add up in the tensor core, where there are so many in all.
  constexpr std::int64_t summed_keys(std::int64_t all) const {
    if (summed_blocks != 0) return std::int64_t{summed_blocks} * keys;
    return all > keys ? all : keys;
  }
  // The type that queries, keys and values have in memory.
  constexpr ElementType memory_type() const { return from_e4m3 != 0 ? ElementType::E4m3 : d_type; }
  constexpr ElementType key_memory_type() const {
    return e4m3_keys != 0 ? ElementType::E4m3 : memory_type();
  }
  // The type that they have in shared memory.
  constexpr ElementType product_type() const {
    return e4m3_products != 0 ? ElementType::E4m3 : d_type;
  }
};

// The role that fills the stages of a ring, and the way it announces them. The loading role does
// it, or where values load `apart` a role of theirs; a role that transposes fills the other ring.
template <class Loader, bool apart = false>
struct FilledByLoader {
  static constexpr Completion completion = Loader::completion;
  static constexpr RoleArrivals role = {apart ? value_role : Role::Load, Loader::arrivals};
};
template <unsigned warps, bool converted = false>
struct FilledByWarps {
  static constexpr Completion completion = Completion::WarpsArriveFenced;
  static constexpr RoleArrivals role = {converted ? convert_role : transpose_role, warps};
};

struct NobodyClears {
  static constexpr RoleArrivals role = {};
};

// The payload of a ring of tiles of one head, read by one role, and by one that clears its end.
template <class Names, HeadTile tile_shape, Major major, class Filled, RoleArrivals reads,
          class Cleared = NobodyClears>
struct HeadPayload : Names {
  static constexpr Space space = Space::Shared;
  static constexpr HeadTile tile = tile_shape;
  struct Tiles {
    alignas(1024) unsigned char bytes[tile.bytes()];
  };
  using StageTensors = HeadTensors<tile, major>;
  using RingTensors = HeadTensors<tile, major, unsigned{sizeof(Tiles)}>;
  static constexpr Part parts[1] = {
      {tile.bytes(), Filled::completion, Filled::role, {reads, Cleared::role}}};
};

// Tiles that are keys, and seen along their rows values.
template <HeadTile tile, unsigned stage_bytes>
struct KeysAndValues : HeadTensors<tile, Major::K, stage_bytes>,
                       HeadTensors<tile, Major::MN, stage_bytes> {
  using AsKeys = HeadTensors<tile, Major::K, stage_bytes>;
  TW_DEVICE explicit KeysAndValues(SharedAddress first_stage)
      : AsKeys(first_stage), HeadTensors<tile, Major::MN, stage_bytes>(first_stage) {}
  TW_DEVICE const typename AsKeys::Rows& key_rows() const { return AsKeys::rows; }
};
template <class Names, HeadTile tile, class Filled, RoleArrivals reads>
struct LatentPayload : HeadPayload<Names, tile, Major::K, Filled, reads> {
  using RingTensors = KeysAndValues<tile, tile.bytes()>;
  using KeyRows = typename RingTensors::AsKeys::Rows;
};

struct QueryNames {
  static constexpr const char* name = "queries";
  static constexpr const char* full_name = "queries.full";
  static constexpr const char* empty_name = "queries.empty";
};
struct KeyNames {
  static constexpr const char* name = "keys";
  static constexpr const char* full_name = "keys.full";
  static constexpr const char* empty_name = "keys.empty";
};
struct ValueNames {
  static constexpr const char* name = "values";
  static constexpr const char* full_name = "values.full";
  static constexpr const char* empty_name = "values.empty";
};
struct LoadedNames {
  static constexpr const char* name = "loaded values";
  static constexpr const char* full_name = "loaded.full";
  static constexpr const char* empty_name = "loaded.empty";
};

struct LoadedKeyNames {
  static constexpr const char* name = "loaded keys";
  static constexpr const char* full_name = "loaded.full";
  static constexpr const char* empty_name = "loaded.empty";
};

struct AttentionRecipe {
  template <class Kernel>
  using Program = kernel::Attention<Kernel>;
};
struct SwappedRecipe {
  template <class Kernel>
  using Program = kernel::SwappedAttention<Kernel>;
};

struct LatentRecipe {
  template <class Kernel>
  using Program = kernel::LatentAttention<Kernel>;
};

// A target whose parts need another program says which.
template <class Target, bool swaps, bool has_values>
consteval auto recipe_of_heads() {
  if constexpr (requires { typename Target::Recipe; }) {
    return Chosen<typename Target::Recipe>();
  } else {
    return Chosen<std::conditional_t<has_values, LatentRecipe,
                                     std::conditional_t<swaps, SwappedRecipe, AttentionRecipe>>>();
  }
}

// Where the role that multiplies does not touch values, another clears what lies behind the last.
template <class Target>
struct ClearedBy : NobodyClears {};
template <class Target>
requires requires { Target::clears_values; }
struct ClearedBy<Target> {
  static constexpr RoleArrivals role = Target::clears_values;
};

// An epilogue that has nothing to do.
struct NothingLeft {
  static constexpr bool begins = false;
  struct Buffers {};
  struct Params {};
  template <class... Arguments>
  TW_DEVICE explicit NothingLeft(const Arguments&...) {}
  TW_DEVICE void prepare(const TileOrigin&, unsigned) const {}
  template <class... Arguments>
  TW_DEVICE void store(const Arguments&...) {}
  TW_DEVICE void drain() {}
};

template <class Target, HeadTile queries, HeadTile keys, HeadTile values, RoleTable roles,
          bool in_pieces, bool in_pages, ElementType memory_type, bool keeps, bool in_cluster>
consteval auto loader_of_heads() {
  if constexpr (in_cluster) {
    return Chosen<typename Target::template ClusterLoader<queries, keys, values, keeps>>();
  } else if constexpr (in_pages) {
    return Chosen<typename Target::template PagedLoader<queries, keys, values, keeps>>();
  } else if constexpr (in_pieces || memory_type != queries.type) {
    return Chosen<
        typename Target::template PartLoader<queries, keys, values, roles, memory_type, keeps>>();
  } else {
    return Chosen<typename Target::template HeadLoader<queries, keys, values, roles>>();
  }
}

// The products of scores and of sums.
template <class Scores, class Sums>
struct TwoProducts {
  using ScoreOp = Scores;
  using Op = Sums;
};
template <class Target, AttentionConfig config, class Queries, class Keys, class Values>
consteval auto products_of_heads() {
  if constexpr (config.e4m3_keys != 0 && config.values_in_keys == 0) {
    return Chosen<TwoProducts<
        typename Target::template ConvertedScoreOp<Keys, Queries, config.keys, config.tiling.m>,
        typename Target::template ConvertedValueOp<Values, config.tiling.m, config.keys,
                                                   config.tiling.n>>>();
  } else if constexpr (config.swapped != 0) {
    return Chosen<TwoProducts<typename Target::template SwappedScoreOp<Keys, Queries, config.keys,
                                                                       config.group_columns()>,
                              typename Target::template SwappedValueOp<
                                  Values, config.group_columns(), config.keys, config.tiling.n>>>();
  } else if constexpr (config.summed_blocks != 1) {
    return Chosen<TwoProducts<
        typename Target::template ScoreOp<Queries, Keys>,
        typename Target::template SummedValueOp<Values, config.keys, config.summed_blocks>>>();
  } else {
    return Chosen<TwoProducts<typename Target::template ScoreOp<Queries, Keys>,
                              typename Target::template ValueOp<Values, config.keys>>>();
  }
}

// The binder. `Page` is a target's page for attention; `Named` carries the configuration.
template <class Page, class Named>
struct Attention {
  using Target = Page;
  static constexpr AttentionConfig config = Named::config;
  static constexpr bool swaps = config.swapped != 0;
  static constexpr bool has_values = config.values_in_keys != 0;  // the keys
  using Recipe = typename decltype(recipe_of_heads<Target, swaps, has_values>())::Type;
  // Queries, keys and values.
  using Trace = std::conditional_t<config.tracing == Tracing::On, RingTraces<3>, NoTrace>;
  static constexpr Tiling tiling = config.tiling;
  static constexpr RoleTable roles = Target::roles(config).with_lanes(Target::target.lanes);
  static_assert(roles.registers() <= roles.launched_registers(Target::registers),
                "The roles ask for more registers than an SM has.");
  static constexpr bool in_clusters = Target::in_clusters;
  static constexpr bool dependent_launch = config.dependent_launch != 0;
  static constexpr unsigned residents = config.residents;
  static constexpr bool has_one_tile = residents > 1 && config.scheduling == Scheduling::Static;
  static constexpr bool parts_in_cluster = config.parts_in_cluster != 0;
  static_assert(!parts_in_cluster || (has_one_tile && swaps && config.column_groups() == 1),
                "CTAs of a cluster join parts once, of queries that are columns of one group.");
  // A kilobyte of an SM's is charged to each CTA.
  static constexpr unsigned shared_bytes = (Target::shared_bytes + 1024) / residents - 1024;

  static constexpr ElementType type = config.product_type();
  // The tensor core takes 8-bit elements along k only: values by columns.
  static constexpr bool transposes = bytes_of(type) == 1;
  // Bytes of a line where a row has `count` elements of 8 bits: the padding of blocks of up to 128
  // keys is not worth a second line.
  static constexpr unsigned line_of(unsigned count) {
    return transposes && count % 128 != 0 && (count == 64 || count > 128) ? 64 : 128;
  }
  static constexpr unsigned head_line = line_of(config.head_columns());
  static constexpr HeadTile query_tile = {tiling.m, config.head_columns(), type, head_line};
  static constexpr ElementType key_type = config.e4m3_keys != 0 ? ElementType::E4m3 : type;
  static constexpr HeadTile key_tile = {config.keys, config.slice_columns(), key_type, head_line};
  // Where values are columns of keys of 8 bits, a role makes 16 of them on their way to products.
  static constexpr bool converts = config.has_bytes_of_values();
  static constexpr HeadTile taken_keys = {config.keys, config.slice_columns(),
                                          converts ? type : key_type, head_line};
  static constexpr HeadTile value_tile =
      has_values ? key_tile : HeadTile{config.keys, tiling.n, key_type, line_of(tiling.n)};
  static constexpr Major value_major = transposes ? Major::K : Major::MN;
  static constexpr unsigned key_line = line_of(config.keys);
  static constexpr unsigned padded_keys = (config.keys + key_line - 1) / key_line * key_line;
  static constexpr HeadTile taken_tile = transposes
                                             ? HeadTile{tiling.n, padded_keys, type, key_line}
                                         : has_values ? taken_keys
                                                      : value_tile;
  static constexpr bool in_parts = config.part_blocks != 0;
  static constexpr bool in_pages = config.pages != 0;
  static constexpr bool in_ranges = config.ranges != 0;
  using SequencesType =
      std::conditional_t<in_pages, PagedSequences,
                         std::conditional_t<in_ranges, RangedSequences, Sequences>>;
  static_assert(!(in_parts && in_pages), "Parts of keys are taken from pages as from rows.");
  static_assert(!(in_ranges && (in_parts || in_pages)),
                "Where queries have ranges of keys, a tile has all of them, in rows.");
  using Loader =
      typename decltype(loader_of_heads<Target, query_tile, key_tile, value_tile, roles, in_parts,
                                        in_pages, config.memory_type(), config.keeps_keys != 0,
                                        parts_in_cluster>())::Type;
  using Scales = std::conditional_t<config.from_e4m3 + config.e4m3_keys != 0, kernel::ScalesOfHeads,
                                    kernel::NoScales>;
  using QueryTensors = HeadTensors<query_tile, Major::K, query_tile.bytes()>;
  using KeyTensors = HeadTensors<taken_keys, Major::K, taken_keys.bytes()>;
  using ValueTensors = HeadTensors<taken_tile, value_major, taken_tile.bytes()>;
  using Products = typename decltype(products_of_heads<Target, config, QueryTensors, KeyTensors,
                                                       ValueTensors>())::Type;
  using ScoreOp = typename Products::ScoreOp;
  using Op = typename Products::Op;
  // Every group reads every stage.
  static constexpr RoleArrivals reads = {Role::Multiply, Op::releases* roles.groups};
  using Loaded = FilledByLoader<Loader>;
  using QueryPayload = HeadPayload<QueryNames, query_tile, Major::K, Loaded, reads>;
  static constexpr RoleArrivals converting = {convert_role, roles.spec_of(convert_role).warps};
  using Converted = FilledByWarps<converting.arrivals, true>;
  using KeyPayload = std::conditional_t<
      has_values,
      LatentPayload<KeyNames, taken_keys, std::conditional_t<converts, Converted, Loaded>, reads>,
      HeadPayload<KeyNames, key_tile, Major::K, Loaded, reads>>;
  static constexpr bool values_apart = Loader::values_apart;
  static constexpr RoleArrivals transposing = {transpose_role, roles.spec_of(transpose_role).warps};
  using Transposed = FilledByWarps<transposing.arrivals>;
  using ValuePayload =
      HeadPayload<ValueNames, taken_tile, value_major,
                  std::conditional_t<transposes, Transposed, FilledByLoader<Loader, values_apart>>,
                  reads, ClearedBy<Target>>;
  using LoadedPayload = HeadPayload<LoadedNames, value_tile, Major::K, Loaded, transposing>;
  using LoadedKeyPayload = HeadPayload<LoadedKeyNames, key_tile, Major::K, Loaded, converting>;
  using Accumulators = typename Target::template Accumulators<config, Op, Trace>;
  static constexpr bool takes_turns = Target::takes_turns && config.turns != 0 && roles.groups > 1;
  using StepOrder =
      std::conditional_t<takes_turns, tw::Turns<roles.groups, roles.group_warps()>, NoTurns>;
  using Turns = NoTurns;  // groups share every tile
  // One loop over all blocks, whether masks cut them or not: some compilers would move all sums to
  // other registers between two.
  static constexpr bool one_loop = requires { requires Target::one_loop; };

  using Store = typename Target::template Store<config, Trace>;
  static_assert(TileStore<Store>);
  // Where keys are taken in parts, the program stores its rows.
  using Epilogue = std::conditional_t<in_parts, NothingLeft, FragmentLoop<Tree<node::Sum>, Store>>;
  using SwappedHeads =
      std::conditional_t<parts_in_cluster, kernel::ClusterHeads<config.d_type, tiling.n, tiling.m>,
                         kernel::SwappedHeads<config.d_type, tiling.n, config.group_columns(),
                                              config.column_groups(), false>>;
  using ManyHeads = std::conditional_t<swaps, SwappedHeads,
                                       kernel::ManyHeads<config.d_type, tiling.n, roles.lanes>>;
  using Rows = std::conditional_t<in_parts, ManyHeads, kernel::OneHead>;
  using Sources = DirectSources;
  using Reduction = NoReduction;
  using Map =
      std::conditional_t<in_parts, DecodeTiles<tiling.m, config.keys, swaps, parts_in_cluster>,
                         AttentionTiles<tiling.m, config.keys, SequencesType>>;
  using Schedule = typename decltype(schedule_of<config, Target, roles, Map>())::Type;
  static_assert(WorkSchedule<Schedule>);

  // Where few rows meet many keys, these are what takes time to come; else two blocks of them, and
  // a second tile of queries where there is room.
  // Where queries are columns, weights and maxima lie beside the rings; else sums that others join.
  static constexpr unsigned joined_bytes = config.summed_blocks > 1 ? tiling.m*(4 * tiling.n) : 0;
  static constexpr unsigned exchanged_bytes =
      parts_in_cluster ? std::max(tiling.m * tiling.n / 128, cluster_parts) * 1024 + 1024 : 0;
  static constexpr unsigned own_bytes =
      exchanged_bytes + (swaps ? tiling.m * (4 * config.keys + 32) : joined_bytes);
  // Where keys are converted, a block and most slices of the next are there as 16 bits, and as
  // many bytes as there is room for.
  static constexpr unsigned usual_stages =
      converts     ? config.key_slices + (tiling.m > 16 ? 3 : 4)
      : has_values ? (shared_bytes - 1024 - own_bytes - query_tile.bytes()) / key_tile.bytes()
      : in_parts   ? (shared_bytes - 1024 - own_bytes - 2 * query_tile.bytes()) /
                       (key_tile.bytes() + value_tile.bytes())
                 : 2;
  static constexpr unsigned key_stages = config.key_stages != 0 ? config.key_stages : usual_stages;
  static constexpr unsigned value_stages = has_values                 ? 0
                                           : config.value_stages != 0 ? config.value_stages
                                                                      : usual_stages;
  static constexpr unsigned buffer_bytes =
      std::is_empty_v<typename Epilogue::Buffers>
          ? 0
          : roles.groups * unsigned{sizeof(typename Epilogue::Buffers)};
  static constexpr unsigned rest_bytes = shared_bytes - 1024 - own_bytes - query_tile.bytes();
  static constexpr unsigned loaded_stages =
      transposes  ? 2
      : !converts ? 0
      : config.value_stages != 0
          ? config.value_stages
          : (rest_bytes - key_stages * taken_keys.bytes()) / key_tile.bytes();
  static constexpr unsigned taken_bytes =
      1024 + own_bytes + buffer_bytes + key_stages * taken_keys.bytes() +
      value_stages * taken_tile.bytes() + loaded_stages * value_tile.bytes();
  static_assert(taken_bytes + query_tile.bytes() <= shared_bytes,
                "Blocks of keys and values and a tile of queries must fit shared memory.");
  // Where there is one alone, the keys of the next tile wait for it.
  static constexpr unsigned query_stages =
      !has_one_tile && taken_bytes + 2 * query_tile.bytes() <= shared_bytes ? 2 : 1;
  using Queries = Ring<QueryPayload, query_stages, typename Target::Signal>;
  using Keys = Ring<KeyPayload, key_stages, typename Target::Signal>;
  using Values = Ring<ValuePayload, value_stages, typename Target::Signal>;
  using LoadedValues =
      std::conditional_t<transposes, Ring<LoadedPayload, 2, typename Target::Signal>, Values>;
  using LoadedKeys =
      std::conditional_t<converts, Ring<LoadedKeyPayload, loaded_stages, typename Target::Signal>,
                         Keys>;

  static constexpr unsigned group_columns = tiling.n;
  static constexpr unsigned group_row(unsigned group) { return group * 64; }
  static TW_DEVICE TileOrigin place(const WorkTile& tile, unsigned group) {
    return {tile.batch, tile.first_row(tiling.m) + static_cast<int>(group_row(group)), 0,
            tile.m_end};
  }
};

}  // namespace tw
