// Attention on the host: which problems a kernel takes, and the plan of its launch.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include "tilewright/family/attention/family.h"
#include "tilewright/family/attention/kernel.h"
#include "tilewright/launch/checked.h"
#include "tilewright/launch/kernel_problem.h"
#include "tilewright/launch/tensor_map.h"
#include "tilewright/layout/layout.h"

namespace tw {

// A tile takes as many of the heads that share keys as it has room for, with at least 8 rows each;
// all tiles of a head of keys have equally many. Where heads are columns, the last tile may have
// fewer: keys are then read as often as there are tiles, whatever divides the heads.
inline SharedRows shared_rows(const tw_attention_problem& problem, const AttentionConfig& config) {
  const std::int64_t sharing = problem.heads / problem.key_heads;
  const unsigned tile_rows = config.tiling.m;
  if (config.swapped != 0) {
    std::int64_t room = 1;
    while (room < problem.queries && 2 * room <= tile_rows) room *= 2;
    const std::int64_t tiles = ceil_divide(sharing, tile_rows / room);
    return {static_cast<int>(ceil_divide(sharing, tiles)), static_cast<int>(room),
            static_cast<int>(std::clamp<std::int64_t>(problem.queries, 1, room))};
  }
  std::int64_t heads = std::min<std::int64_t>(sharing, tile_rows / 8);
  while (sharing % heads != 0) --heads;
  std::int64_t room = tile_rows;
  while (room * heads > tile_rows) room /= 2;
  return {static_cast<int>(heads), static_cast<int>(room),
          static_cast<int>(std::clamp<std::int64_t>(problem.queries, 1, room))};
}

// Tiles that share keys, in a kernel that takes keys in parts: slots for what they leave; and the
// parts of each, at most.
inline constexpr auto attention_counters =  // the last is the schedule's
    static_cast<std::int64_t>(workspace_counter_bytes / 16 - 1);
struct AttentionParts {
  SharedRows shared;
  std::int64_t groups, chunks, slots, parts, part_blocks;
};
// Keys are cut where the kernel's parts end, whatever else is computed; or, as an order says, into
// so many equally long parts at most, or not at all. CTAs of a cluster are a power of two.
inline AttentionParts attention_parts(const tw_attention_problem& problem,
                                      const AttentionConfig& config, const LaunchOrder& order) {
  AttentionParts made = {shared_rows(problem, config), 0, 0, 0, 0, config.part_blocks};
  if (order.split_k > 1 || order.stream_k) {
    const std::int64_t blocks = (problem.keys + config.keys - 1) / config.keys;
    made.part_blocks = std::max<std::int64_t>((blocks + order.split_k - 1) / order.split_k, 1);
  }
  const std::int64_t part_keys = made.part_blocks * config.keys;
  made.groups =
      problem.key_heads * ceil_divide(problem.heads / problem.key_heads, made.shared.heads);
  made.chunks = (problem.queries + made.shared.room - 1) / made.shared.room;
  made.slots = problem.sequences * made.groups * made.chunks;
  made.parts = std::max<std::int64_t>((problem.keys + part_keys - 1) / part_keys, 1);
  if (config.parts_in_cluster != 0) {
    made.parts = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(made.parts)));
  }
  return made;
}

// Work that the CTAs of a grid share, by tiles of so many rows; where lengths stand on the
// device, the most that it can be.
inline std::int64_t attention_work(const tw_attention_problem& problem,
                                   const AttentionConfig& config, const LaunchOrder& order) {
  if (config.part_blocks != 0) {
    const AttentionParts parts = attention_parts(problem, config, order);
    return parts.slots * parts.parts;
  }
  const std::int64_t rows = config.tiling.m;
  const std::int64_t tiles = AttentionFamily::is_ragged(problem)
                                 ? problem.queries / rows + problem.sequences
                                 : problem.sequences * ((problem.queries + rows - 1) / rows);
  return tiles * problem.heads;
}

// Heads whose tiles are taken together: their keys and values shall stay in the L2.
inline int attention_section(const tw_attention_problem& problem) {
  if (AttentionFamily::is_ragged(problem)) return static_cast<int>(problem.heads);
  constexpr std::int64_t bytes_kept = 32 << 20;
  const std::int64_t bytes_of_head = std::max<std::int64_t>(problem.keys, 1) *
                                     (problem.head_size + AttentionFamily::value_size(problem)) * 2;
  const std::int64_t key_heads = std::max<std::int64_t>(bytes_kept / bytes_of_head, 1);
  const std::int64_t all = problem.heads * problem.sequences;
  return static_cast<int>(std::min(key_heads * (problem.heads / problem.key_heads), all));
}

struct AttentionLaunch {
  using Family = AttentionFamily;
  using Problem = Family::Problem;

  template <class Kernel>
  static constexpr AttentionConfig facts = Kernel::config;

  // Counters, then what tiles leave of parts of their keys.
  template <class Kernel>
  static std::size_t workspace(const Checked& checked, const LaunchOrder& order) {
    constexpr bool asks = Kernel::config.scheduling == Scheduling::Dynamic;
    if constexpr (Kernel::in_parts && !Kernel::parts_in_cluster) {
      const AttentionParts parts = attention_parts(checked.as<Problem>(), Kernel::config, order);
      const std::int64_t rows = parts.shared.heads * parts.shared.tokens;
      if (parts.parts > 1) {
        return workspace_counter_bytes +
               static_cast<std::size_t>(parts.parts * parts.slots * rows) *
                   SoftmaxParts<Kernel::tiling.n>::pitch * 4;
      }
    }
    return asks ? workspace_counter_bytes : 0;
  }

  // A grid of no CTAs is not launched. Schedules that ask have a counter in the workspace.
  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const Checked& checked, const LaunchOrder& order, unsigned max_ctas,
                     const Workspace& workspace, const Encode& encode) {
    const Problem& problem = checked.as<Problem>();
    if (Status status = takes<Kernel>(checked, order); !status.is_good()) return status;
    const std::int64_t work = attention_work(problem, Kernel::config, order);
    if (work > std::numeric_limits<int>::max() - 65536) {
      return Status::refused(sentence("There are {} tiles; 31 bits count them.", work));
    }
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    const Sequences sequences = {
        .count = number(problem.sequences),
        .queries = number(problem.queries),
        .keys = number(problem.keys),
        .query_ends = problem.query_ends,
        .key_ends = problem.key_ends,
        .causal = problem.causal != 0 ? 1 : 0,
        .window =
            problem.window != 0 ? number(std::min(problem.window, every_key)) : number(every_key),
        .key_counts = Family::is_paged(problem) ? problem.key_ends : nullptr};
    params = {};
    static_cast<Sequences&>(params.loader.sequences) = sequences;
    params.loader.query_heads_per_key_head = number(problem.heads / problem.key_heads);
    fill_sequences(params.own.sequences, sequences, problem);
    params.own.scale = Family::scale(problem);
    params.own.softcap = problem.softcap;
    const TensorLines& log_sums = checked.tensor(Family::log_sums);
    params.own.rows.sinks = problem.sinks;
    params.own.rows.log_sums = static_cast<float*>(log_sums.data);
    params.own.rows.log_sums_pitch = log_sums.pitch;
    if constexpr (Kernel::Scales::are_there) {
      params.own.queries = problem.q_scales;
      params.own.keys = problem.k_scales;
      params.own.values = Kernel::has_values ? problem.k_scales : problem.v_scales;
      params.own.query_heads_per_key_head = number(problem.heads / problem.key_heads);
    }
    const std::int64_t ctas = Kernel::has_one_tile ? work : std::min<std::int64_t>(max_ctas, work);
    grid = {static_cast<unsigned>(ctas)};
    if constexpr (Kernel::in_parts) {
      return plan_parts<Kernel>(params, checked, sequences, order, workspace, encode);
    } else {
      return plan_tiles<Kernel>(params, checked, sequences, work, workspace, encode);
    }
  }

 private:
  template <class SequencesType>
  static void fill_sequences(SequencesType& filled, const Sequences& sequences,
                             const Problem& problem) {
    static_cast<Sequences&>(filled) = sequences;
    if constexpr (has_ranges<SequencesType>) {
      filled.range_begins = problem.range_begins;
      filled.range_ends = problem.range_ends;
    }
  }

  template <class Kernel, class Params, class Encode>
  static Status plan_tiles(Params& params, const Checked& checked, const Sequences& sequences,
                           std::int64_t work, const Workspace& workspace, const Encode& encode) {
    const Problem& problem = checked.as<Problem>();
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    typename Kernel::Map::Params map = {};
    fill_sequences(map.sequences, sequences, problem);
    map.heads = number(problem.heads);
    map.section = attention_section(problem);
    if constexpr (Kernel::config.scheduling == Scheduling::Dynamic) {
      params.schedule = {map, static_cast<std::uint32_t*>(workspace.counters()), number(work)};
    } else {
      params.schedule = map;
    }
    const TensorLines& output = checked.tensor(Family::output);
    params.epilogue.m = number(Family::query_rows(problem));
    params.epilogue.n = number(Family::value_size(problem));
    params.epilogue.output.d = output.data;
    params.epilogue.output.pitch = output.pitch;
    params.epilogue.output.batch_pitch = output.batch_pitch;
    if constexpr (requires { params.epilogue.output.by_tma; }) {
      params.epilogue.output.by_tma = 1;
      const Status status =
          encode(params.epilogue.output.map,
                 box_of(output, Kernel::Store::chunk_columns, Kernel::Store::chunk_rows));
      if (!status.is_good()) return status;
    }
    if constexpr (Kernel::in_pages) {
      constexpr int rows = Kernel::query_tile.rows;
      return fill_pieces<Kernel>(params, checked, {1, rows, rows}, false, encode);
    } else {
      return fill_loader<Kernel>(params.loader, checked, encode);
    }
  }

  template <class Kernel, class Params, class Encode>
  static Status plan_parts(Params& params, const Checked& checked, const Sequences& sequences,
                           const LaunchOrder& order, const Workspace& workspace,
                           const Encode& encode) {
    const Problem& problem = checked.as<Problem>();
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    const AttentionParts parts = attention_parts(problem, Kernel::config, order);
    constexpr std::int64_t most = attention_counters / Kernel::config.column_groups();
    if (!Kernel::parts_in_cluster && parts.parts > 1 && parts.slots > most) {
      return Status::refused(
          sentence("There are {} tiles that share keys, with parts of them; there are counters for "
                   "{}.",
                   parts.slots, most));
    }
    typename Kernel::Map::Params map = {};
    map.sequences = sequences;
    map.shared = parts.shared;
    map.groups = number(parts.groups);
    map.chunks = number(parts.chunks);
    map.parts = number(parts.parts);
    map.part_blocks = number(parts.part_blocks);
    if constexpr (Kernel::swaps) {
      map.sharing = params.own.rows.sharing = number(problem.heads / problem.key_heads);
      map.groups_of_keys = number(parts.groups / problem.key_heads);
    }
    if constexpr (Kernel::parts_in_cluster) {
      map.parts_log =
          static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(parts.parts)));
      map.of_chunks = Quotient(static_cast<unsigned>(parts.chunks));
      map.of_groups = Quotient(static_cast<unsigned>(parts.groups));
      map.of_groups_of_keys = Quotient(static_cast<unsigned>(map.groups_of_keys));
      const Quotient of_sharing(static_cast<unsigned>(map.sharing));
      params.own.rows.of_sharing = params.loader.of_query_heads = of_sharing;
      params.own.rows.room_log =
          static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(parts.shared.room)));
    }
    auto* const counters = static_cast<std::uint32_t*>(workspace.counters());
    if constexpr (Kernel::config.scheduling == Scheduling::Dynamic) {
      params.schedule = {map, counters + attention_counters * 4, number(parts.slots * parts.parts)};
    } else {
      params.schedule = map;
    }
    const TensorLines& output = checked.tensor(Family::output);
    auto& rows = params.own.rows;
    rows.shared = parts.shared;
    rows.parts = {
        counters,
        reinterpret_cast<float*>(static_cast<std::byte*>(workspace.data) + workspace_counter_bytes),
        parts.shared.heads * parts.shared.tokens, number(parts.slots)};
    rows.output = output.data;
    rows.token_pitch = output.pitch;
    rows.head_pitch = output.batch_pitch;
    rows.value_columns = number(output.length);
    return fill_pieces<Kernel>(params, checked, parts.shared, true, encode);
  }

  // A loader that brings rows of several heads, and keys and values from pages; these are read
  // `once`.
  template <class Kernel, class Params, class Encode>
  static Status fill_pieces(Params& params, const Checked& checked, const SharedRows& shared,
                            bool once, const Encode& encode) {
    const Problem& problem = checked.as<Problem>();
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    auto& loader = params.loader;
    loader.heads = number(problem.heads);
    loader.shared = shared;
    const bool is_paged = Family::is_paged(problem);
    loader.pages = is_paged ? problem.page_table : nullptr;
    loader.pages_pitch = number(problem.table_pitch);
    loader.page_rows = number(problem.page_size);
    loader.heads_of_page = problem.heads_in_pages != 0 ? number(problem.key_heads) : 0;
    if constexpr (Kernel::Loader::takes_any_page) {
      loader.num_pages = number(problem.pages);
      return fill_heads<Kernel>(loader, checked);
    } else {
      const std::int64_t box = is_paged
                                   ? std::min<std::int64_t>(problem.page_size, Kernel::config.keys)
                                   : std::int64_t{Kernel::config.keys};
      loader.heads_of_box =
          Kernel::swaps ? static_cast<int>(Kernel::query_tile.rows) / shared.room : 1;
      loader.box_rows = number(box);
      loader.blocks_of_page =
          number(std::max<std::int64_t>(problem.page_size / std::int64_t{Kernel::config.keys}, 1));
      const Status status = fill_maps(loader, checked, static_cast<unsigned>(shared.room),
                                      static_cast<unsigned>(loader.heads_of_box),
                                      static_cast<unsigned>(box), 128, once, encode);
      if constexpr (!Kernel::has_values) params.own.loader = loader;
      return status;
    }
  }

  // A window that leaves out none. Kernels add it to the place of a key.
  static constexpr std::int64_t every_key = 1 << 30;

  template <class Kernel>
  static Status takes(const Checked& checked, const LaunchOrder& order) {
    const Problem& problem = checked.as<Problem>();
    Status found = Status::good();
    const ElementType type = checked.tensor(Family::q).type;
    constexpr ElementType taken = Kernel::config.memory_type();
    found.unless(type == taken, [&] {
      return sentence("The elements are {}; this kernel is for {}.", name_of(type), name_of(taken));
    });
    const ElementType key_type = checked.tensor(Family::k).type;
    constexpr ElementType taken_keys = Kernel::config.key_memory_type();
    found.unless(type != taken || key_type == taken_keys, [&] {
      return sentence("The keys are {}; this kernel is for keys of {}.", name_of(key_type),
                      name_of(taken_keys));
    });
    constexpr unsigned columns = Kernel::config.head_columns(), values = Kernel::tiling.n;
    const std::int64_t value_size = Family::value_size(problem);
    const bool has_columns = problem.head_size <= columns && problem.head_size % 8 == 0 &&
                             value_size <= values && value_size % 8 == 0;
    found.unless(has_columns, [&] {
      return sentence(
          "head_size = {} and {} columns of values; this kernel is for up to {} and {}, "
          "multiples of 8.",
          problem.head_size, value_size, columns, values);
    });
    found.unless(problem.values_in_keys == 0 || Kernel::has_values, [] {
      return "Values are columns of the keys; this kernel reads them from a tensor of their own.";
    });
    found.unless(problem.values_in_keys != 0 || !Kernel::has_values, [] {
      return "This kernel is for values that are columns of the keys (values_in_keys).";
    });
    found.unless(!Family::has_ranges(problem) || Kernel::in_ranges, [] {
      return "Queries have ranges of keys; this kernel has masks of its own alone.";
    });
    found.unless(Family::has_ranges(problem) || !Kernel::in_ranges, [] {
      return "This kernel is for queries that have ranges of keys (range_begins, range_ends).";
    });
    if constexpr (Kernel::config.e4m3_products != 0) {
      const std::int64_t summed = Kernel::config.summed_keys(problem.keys);
      const std::int64_t most = Family::summed_keys(problem);
      found.unless(summed <= most, [&] {
        return sentence(
            "Sums of e4m3 must join in float32 every {} keys (sums_join_every); here the tensor "
            "core adds up {}.",
            most, summed);
      });
    }
    found.unless(problem.keys <= every_key, [&] {
      return sentence("keys = {}; kernels count up to {}.", problem.keys, every_key);
    });
    found.add(takes_pages<Kernel>(problem));
    found.unless(Kernel::in_parts || order.split_k == 1, [&] {
      return sentence("split_k = {}; this kernel does not cut keys.", order.split_k);
    });
    if constexpr (Kernel::parts_in_cluster) {
      const std::int64_t parts = attention_parts(problem, Kernel::config, order).parts;
      found.unless(parts <= std::int64_t{cluster_parts}, [&] {
        return sentence(
            "Keys are cut into {} parts; this kernel joins up to {}, the CTAs of a cluster: give "
            "split_k of up to {}.",
            parts, cluster_parts, cluster_parts);
      });
    }
    found.unless(!Kernel::in_parts || !Family::is_ragged(problem),
                 [] { return "This kernel takes sequences with equally many queries."; });
    const bool has_rows = Kernel::config.upper_rows == 0 ||
                          (shared_rows(problem, Kernel::config).room >= 16 && problem.queries <= 8);
    found.unless(has_rows, [&] {
      return sentence("{} heads share keys, with queries = {}; this kernel is for up to 4 and 8.",
                      problem.heads / problem.key_heads, problem.queries);
    });
    const bool asks = Kernel::config.scheduling == Scheduling::Dynamic;
    found.unless(!asks || !Family::is_ragged(problem),
                 [] { return "Lengths on the device need a kernel with a static schedule."; });
    for (const unsigned tensor : {Family::q, Family::k, Family::v, Family::output}) {
      if (tensor == Family::v && problem.values_in_keys != 0) continue;
      const TensorLines& lines = checked.tensor(tensor);
      // Copies that convert take 8 bytes.
      const bool are_bytes = Kernel::config.e4m3_products != 0
                                 ? tensor != Family::output
                                 : Kernel::config.e4m3_keys != 0 && bytes_of(lines.type) == 1;
      const int count = are_bytes ? 16 : 8;
      const bool is_aligned = reinterpret_cast<std::uintptr_t>(lines.data) % 16 == 0 &&
                              lines.pitch % count == 0 && lines.batch_pitch % count == 0;
      found.unless(is_aligned, [&] {
        return sentence(
            "This kernel copies {} by {} elements, from multiples of 16 bytes on; from token to "
            "token they lie {} elements apart, from head to head {}.",
            checked.description().tensors[tensor].title, count, lines.pitch, lines.batch_pitch);
      });
    }
    return found;
  }

  template <class Kernel>
  static Status takes_pages(const Problem& problem) {
    if (!Family::is_paged(problem)) {
      return Kernel::in_pages ? Status::refused("This kernel takes keys in pages alone.")
                              : Status::good();
    }
    if constexpr (!Kernel::in_parts && !Kernel::in_pages) {
      return Status::refused("This kernel does not take keys in pages.");
    } else {
      const std::int64_t keys = Kernel::config.keys, size = problem.page_size;
      const bool fits = size >= 8 && (keys % size == 0 || size % keys == 0);
      if (fits || Kernel::Loader::takes_any_page) return Status::good();
      return Status::refused(
          sentence("page_size = {}; this kernel is for pages of 8 tokens or more that divide {} or "
                   "are multiples of it.",
                   size, keys));
    }
  }

  static MatrixBox box_of(const TensorLines& heads, unsigned box_columns, unsigned box_rows) {
    return {.base = heads.data,
            .type = heads.type,
            .inner = heads.length,
            .outer = heads.lines,
            .batch = heads.batch,
            .pitch_bytes = heads.pitch * bytes_of(heads.type),
            .batch_pitch_bytes = heads.batch_pitch * bytes_of(heads.type),
            .box_inner = box_columns,
            .box_outer = box_rows,
            .swizzle = swizzle_of_rows(box_columns * bytes_of(heads.type))};
  }

  template <class Kernel, class Encode>
  static Status fill_loader(typename Kernel::Loader::Params& loader, const Checked& checked,
                            const Encode& encode) {
    // A loader of several heads brings one here, which has all rows of a tile.
    if constexpr (requires { loader.shared; }) {
      loader.heads = static_cast<int>(checked.as<Problem>().heads);
      loader.shared = {1, static_cast<int>(Kernel::query_tile.rows),
                       static_cast<int>(Kernel::query_tile.rows)};
    }
    if constexpr (requires { loader.queries.token_stride; }) {
      return fill_heads<Kernel>(loader, checked);
    } else {
      return fill_maps(loader, checked, Kernel::query_tile.rows, 1, Kernel::key_tile.rows,
                       Kernel::head_line, false, encode);
    }
  }

  // Loaders that copy by threads take addresses and strides instead of tensor maps.
  template <class Kernel>
  static Status fill_heads(typename Kernel::Loader::Params& loader, const Checked& checked) {
    const auto view = [&](unsigned tensor) {
      const TensorLines& heads = checked.tensor(tensor);
      using Data = decltype(loader.queries.data);
      return typename Kernel::Loader::Heads{static_cast<Data>(heads.data), heads.pitch,
                                            heads.batch_pitch, static_cast<int>(heads.length)};
    };
    loader.queries = view(Family::q);
    loader.keys = view(Family::k);
    loader.values = view(Family::v);
    return Status::good();
  }

  template <class Loader, class Encode>
  static Status fill_maps(Loader& loader, const Checked& checked, unsigned query_rows,
                          unsigned query_heads, unsigned key_rows, unsigned line_bytes, bool once,
                          const Encode& encode) {
    const TensorLines &q = checked.tensor(Family::q), &k = checked.tensor(Family::k);
    const unsigned span = line_bytes / bytes_of(k.type);
    MatrixBox queries = box_of(q, line_bytes / bytes_of(q.type), query_rows);
    queries.box_batch = query_heads;
    const Status status = encode(loader.queries, queries);
    // Without keys no tile reads them, but the maps must be some.
    loader.keys = loader.values = loader.queries;
    if (!status.is_good() || k.data == nullptr) return status;
    MatrixBox keys = box_of(k, span, key_rows);
    keys.read_once = once;
    if (Status encoded = encode(loader.keys, keys); !encoded.is_good()) return encoded;
    loader.values = loader.keys;
    const bool has_values = checked.as<Problem>().values_in_keys == 0;
    MatrixBox values = has_values ? box_of(checked.tensor(Family::v), span, key_rows) : keys;
    values.read_once = once;
    if constexpr (requires { loader.last_keys; }) {
      MatrixBox last_keys = keys, last_values = values;
      last_keys.box_outer = last_values.box_outer = Loader::last_rows;
      if (Status encoded = encode(loader.last_keys, last_keys); !encoded.is_good()) return encoded;
      if (Status encoded = encode(loader.last_values, last_values); !encoded.is_good()) {
        return encoded;
      }
    }
    return has_values ? encode(loader.values, values) : Status::good();
  }
};

}  // namespace tw
