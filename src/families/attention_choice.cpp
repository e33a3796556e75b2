#include <cmath>
#include <cstring>

#include "src/families/attention.h"
#include "tilewright/arch/target.h"
#include "tilewright/family/attention/launch.h"

namespace tw {

namespace {

constexpr double launching = 4.2;  // microseconds of a launch and of its first copies

// An SM that nobody shares a port with draws so many bytes in a microsecond: the more queries are
// columns, and where bytes are converted, the longer a block takes.
double drawn_alone(const AttentionConfig& config) {
  const unsigned queries = config.tiling.m;
  // Where values are columns of keys, two products read what memory brings once, and rows are long.
  if (config.values_in_keys != 0) {
    return (60e3 - 0.7e3 * std::min(queries, 40u)) * bytes_of(config.key_memory_type()) / 2;
  }
  if (config.e4m3_keys != 0) return queries <= 8 ? 26.5e3 : 22e3;
  if (config.residents > 1) return queries > 16 ? 20e3 : 42e3;
  return config.swapped == 0 || config.tiling.n > 128 ? 91e3
         : queries <= 8                               ? 88e3
         : queries <= 16                              ? 72e3
                                                      : 46e3;
}

// CTAs of a cluster lie in one group of SMs, of which some are then left over.
std::int64_t clusters_at_once(const AttentionConfig& config, std::int64_t ctas, unsigned sms) {
  const std::int64_t held = ctas == 8 ? sms - sms / 11 : ctas == 4 ? sms - sms / 33 : sms;
  return std::max<std::int64_t>(held * config.residents / ctas, 1);
}

// The time of a launch whose parts join in clusters, in microseconds, measured on an H200: its
// start and end, the blocks of a CTA one after the other, and what CTAs take from each other.
double time_in_clusters(const AttentionConfig& config, const tw_attention_problem& problem,
                        unsigned sms, const LaunchOrder& order) {
  constexpr double around = 4.47, beside_others = 0.96, of_wave = 2.05, alone = 2.2;
  // In a microsecond: beside what else takes time, and alone.
  constexpr double drawn_beside = 5.65e6, drawn_by_all = 4.2e6;
  const AttentionParts made = attention_parts(problem, config, order);
  const double of_block = config.tiling.n > 64 ? 0.46 : 0.30;
  const double bytes = static_cast<double>(made.slots) * static_cast<double>(problem.keys) *
                       (config.head_columns() + config.tiling.n) *
                       bytes_of(config.key_memory_type());
  const std::int64_t blocks = ceil_divide(problem.keys, std::int64_t{config.keys});
  const std::int64_t waves = ceil_divide(made.slots, clusters_at_once(config, made.parts, sms));
  const double of_sm =
      static_cast<double>(made.slots) * static_cast<double>(made.parts) / std::max(sms, 1u);
  const double time = around + of_block * static_cast<double>(std::min(blocks, made.part_blocks)) +
                      beside_others * std::max(of_sm - 0.5, 0.0) + bytes / drawn_beside +
                      of_wave * static_cast<double>(waves - 1) + (made.parts == 1 ? alone : 0);
  return std::max(time, around + bytes / drawn_by_all);
}

// Keys and values in bytes, and time in microseconds, measured on an H200. Two SMs share a port of
// the L2 cache: of tiles that do not fill a wave the last ones have pairs of them for themselves.
double time_of_parts(const AttentionConfig& config, const tw_attention_problem& problem,
                     unsigned sms, const LaunchOrder& order) {
  if (config.parts_in_cluster != 0) return time_in_clusters(config, problem, sms, order);
  const double of_alone = drawn_alone(config);
  const double of_sm = std::min(config.swapped != 0 ? 33.5e3 : 28e3, of_alone * config.residents);
  const double of_pair = std::min(91e3, 2 * of_alone);
  constexpr double beside = 1, beside_part = 3.8, of_deposit = 0.9;
  const bool has_values = config.values_in_keys != 0;
  const double turn = config.swapped == 0 ? 6 : has_values ? 1.5 : 3.3;
  const AttentionParts made = attention_parts(problem, config, order);
  // CTAs that share an SM join parts of many columns slowly.
  const double joining = has_values ? 5 : config.residents > 1 ? 0.25 * config.tiling.m : 2;
  const double for_each_part =
      has_values ? 1.2e-4 * made.shared.heads * made.shared.tokens * config.tiling.n : 0.1;
  const auto bytes =
      static_cast<double>(std::min<std::int64_t>(problem.keys, made.part_blocks * config.keys)) *
      (config.head_columns() + (has_values ? 0 : config.tiling.n)) *
      bytes_of(config.key_memory_type());
  const std::int64_t wave = std::max(sms, 1u), tiles = made.slots * made.parts;
  const std::int64_t rest = tiles % wave;
  const std::int64_t at_once = wave * config.residents;
  const bool has_pairs = tiles > wave / 2;
  // Half of the SMs do not take all that memory brings.
  double time = static_cast<double>(tiles) * bytes / (of_sm * static_cast<double>(wave)) *
                (has_pairs ? 1 : 1.05);
  if (config.residents > 1) {
    // Tiles of whole turns share their SM with others; the last ones have what these leave.
    const std::int64_t turns = tiles / at_once, last = tiles - turns * at_once;
    const double of_last =
        last == 0 ? 0 : std::max(static_cast<double>(ceil_divide(last, wave)) / 55e3, 1 / of_alone);
    const double of_turns = static_cast<double>(turns) * config.residents / of_sm;
    time = std::max(time, bytes * (of_turns + of_last));
  } else if (rest > 0) {
    const auto before = static_cast<double>(tiles - rest) / static_cast<double>(wave);
    time = std::max(time, before * bytes / of_sm +
                              std::max((has_pairs ? 2 : 1) * bytes / of_pair, bytes / of_alone));
  }
  if (made.parts > 1) {
    const double of_each = std::max(static_cast<double>(tiles) / static_cast<double>(at_once),
                                    config.residents > 1 ? 1.0 : 0.0);
    // A part is stored before its counter counts it, and the group waits for that.
    const double of_sms = static_cast<double>(tiles) / static_cast<double>(wave);
    time = std::max(time + of_deposit * of_sms, of_each * (bytes / of_alone + beside_part)) +
           joining + for_each_part * static_cast<double>(made.parts);
  } else {
    // A tile of few keys still takes its turn: queries, two products and a store.
    time = std::max(time,
                    static_cast<double>(ceil_divide(tiles, at_once)) * (turn + bytes / of_alone));
  }
  // bf16 has kernels of 64 columns: of others most are nobody's, where heads are so small.
  const bool has_smaller =
      config.d_type == ElementType::Bf16 && config.e4m3_keys == 0 && config.values_in_keys == 0;
  const bool is_padded =
      has_smaller && std::max(problem.head_size, AttentionFamily::value_size(problem)) <= 64;
  // Where two read alike, the one with fewer columns is taken.
  return beside + (is_padded ? config.head_columns() / 64 : 1) * time + 1e-3 * config.tiling.m;
}

// The cut that keeps the SMs busy for the shortest time.
LaunchOrder cut_of_keys(const AttentionConfig& config, const tw_attention_problem& problem,
                        unsigned sms) {
  LaunchOrder best = {.stream_k = true};
  for (int parts = 2; parts <= 128; ++parts) {
    const LaunchOrder order = {.split_k = parts};
    // Otherwise there are not so many blocks, or a smaller number cuts alike.
    const AttentionParts made = attention_parts(problem, config, order);
    const std::int64_t most = config.parts_in_cluster != 0 ? cluster_parts : parts;
    const bool is_cut =
        made.parts == parts && made.parts <= most && made.slots <= attention_counters;
    if (is_cut &&
        time_of_parts(config, problem, sms, order) < time_of_parts(config, problem, sms, best)) {
      best = order;
    }
  }
  return best;
}

// In a microsecond an SM multiplies so much. Where products are short, three groups keep the tensor
// core busy for longer than two do. Kernels of an older device are slow, and none of them waits for
// memory.
double flop_of_sm(const AttentionConfig& config, bool is_native) {
  if (!is_native) return 0.7e6;
  // Products of bytes take half as long, but exponentials do not, nor do sums that join.
  if (config.e4m3_products != 0) {
    return config.head_columns() == 64 ? 4.2e6 : config.keys > 160 ? 7.5e6 : 6.45e6;
  }
  if (config.head_columns() != 64) return 5.2e6;
  return config.residents > 1 ? 3.7e6 : config.tiling.m == 128 ? 3.6e6 : 4.0e6;
}

// Tokens of a sequence, on average.
struct SequenceTokens {
  double queries, keys;
};
SequenceTokens tokens_of_sequence(const tw_attention_problem& problem) {
  const auto sequences = static_cast<double>(std::max<std::int64_t>(problem.sequences, 1));
  const bool is_ragged = AttentionFamily::is_ragged(problem);
  const bool keys_of_all = is_ragged && !AttentionFamily::is_paged(problem);
  return {static_cast<double>(problem.queries) / (is_ragged ? sequences : 1),
          static_cast<double>(problem.keys) / (keys_of_all ? sequences : 1)};
}

// The keys of a tile, about: the last query sees all of them, and the first so many fewer as there
// are queries behind it.
double seen_keys(const tw_attention_problem& problem) {
  const auto [queries, keys] = tokens_of_sequence(problem);
  const double seen = problem.causal != 0 ? keys - 0.5 * std::min(queries, keys) : keys;
  return problem.window > 0 ? std::min(seen, static_cast<double>(problem.window)) : seen;
}

// Keys and values that any query sees are brought by memory once; an SM draws 28 KB of them in a
// microsecond, or 22 where a tile's few queries leave nothing to do while it waits.
double memory_time(const AttentionConfig& config, const tw_attention_problem& problem,
                   unsigned sms) {
  const double of_sm = problem.queries <= 8 ? 22e3 : 28e3;
  const auto [queries, keys] = tokens_of_sequence(problem);
  const double seen =
      problem.window > 0 ? std::min(keys, queries + static_cast<double>(problem.window)) : keys;
  const double tokens = seen * static_cast<double>(problem.sequences * problem.key_heads);
  const double bytes =
      tokens * (config.head_columns() + config.tiling.n) * bytes_of(config.key_memory_type());
  return bytes / of_sm / std::max(sms, 1u);
}

// Products are padded to whole tiles and blocks; what a block costs beside them is as long as the
// products of `beside` keys. A tile waits for its first copies and stores its rows, which CTAs of
// one SM hide from each other. The last CTA counts, unless several share an SM: they take tiles in
// turn.
double expected_time(const AttentionConfig& config, const tw_attention_problem& problem,
                     unsigned sms, bool is_native, const LaunchOrder& order) {
  constexpr double beside = 11;
  const double speed = flop_of_sm(config, is_native);
  const auto work = static_cast<double>(attention_work(problem, config, order));
  if (config.part_blocks != 0) {
    // Keys and values come once for all heads that share them.
    if (is_native) return time_of_parts(config, problem, sms, order);
    const double part = config.part_blocks * config.keys;
    const double elements = std::min(static_cast<double>(problem.keys), part) *
                            (config.head_columns() + config.tiling.n);
    return std::ceil(work / std::max(sms, 1u)) * (1 + 2 * elements * config.tiling.m / speed);
  }
  const bool is_causal = problem.causal != 0, shares = config.residents > 1;
  const double blocks = std::ceil(seen_keys(problem) / config.keys) + (is_causal ? 0.5 : 0.0);
  const double block_time = (config.keys + beside) * config.tiling.m * 2 *
                            (config.head_columns() + config.tiling.n) / speed;
  const double once = shares ? 4.0 / config.residents : config.head_columns() == 64 ? 2.6 : 3.0;
  // Who is done takes the next tile, where tiles differ: nobody waits for who had the long ones.
  const bool asks = config.scheduling == Scheduling::Dynamic;
  const double alike = asks && !shares ? 0.995 : 1;
  const double share = !is_causal ? alike : shares ? (asks ? 0.85 : 0.95) : asks ? 0.9 : 1;
  const double of_sm = work / std::max(sms, 1u), at_once = config.residents;
  double turns = std::ceil(of_sm / at_once) * at_once;
  if (shares && (!asks || of_sm <= at_once)) turns = std::max(of_sm, 1.55);
  const double time = turns * (once + blocks * block_time) * share;
  return launching + (is_native ? std::max(time, memory_time(config, problem, sms)) : time);
}

double time_on(const char* device, const Instance& instance, const tw_attention_problem& problem,
               unsigned sms, const LaunchOrder& order) {
  const bool is_native = std::strcmp(instance.target, device) == 0;
  // Blackwell's tensor core multiplies twice as much in a clock; nobody has measured it.
  const bool is_twice = is_native && std::strcmp(device, target::sm100a.name) == 0;
  const auto& config = *static_cast<const AttentionConfig*>(instance.facts);
  return expected_time(config, problem, sms, is_native, order) / (is_twice ? 2 : 1);
}

// The same of a kernel that takes keys in parts, whose numbers are fitted to each other: what they
// leave out.
double beside_tiles(const LaunchChoice& parts, const tw_attention_problem& problem) {
  const auto& config = *static_cast<const AttentionConfig*>(parts.instance->facts);
  if (config.swapped == 0) return 1.3 * parts.microseconds + launching - 1;
  return parts.microseconds + launching + (problem.queries > 8 ? 2 : -1);
}

// Prices of kernels whose parts join in memory leave out so much of a short launch.
double beside_clusters(const LaunchChoice& parts) {
  const auto& config = *static_cast<const AttentionConfig*>(parts.instance->facts);
  const bool is_whole = parts.order.stream_k;
  if (config.swapped == 0 || config.residents == 1) {
    return parts.microseconds + (is_whole ? 3.5 : 4.7);
  }
  return parts.microseconds + (is_whole && config.tiling.n <= 64 ? 2.5 : 0.3);
}

// The problem and the SMs by whose time a kernel is chosen. An invariant choice sees neither the
// batch nor the device: a few sequences of usual length stand for all that may be beside a row.
struct Priced {
  tw_attention_problem problem;
  unsigned sms;
};
Priced priced(const tw_attention_problem& problem, const DispatchRequest& request) {
  Priced made = {problem, request.sms};
  if (!request.batch_invariant || request.instance != nullptr) return made;
  constexpr std::int64_t few = 64, usual_keys = 4096;
  made.sms = 132;
  made.problem.sequences = 8;
  // Packed sequences count the queries of all of them.
  if (AttentionFamily::is_ragged(problem)) made.problem.queries = 8 * usual_keys;
  made.problem.keys = made.problem.queries <= few ? usual_keys : made.problem.queries;
  return made;
}

// An H100 has 114 SMs or 132; a slice that MIG makes of it has about half of them at most, or all.
constexpr unsigned whole_device = 100;

// The blocks of keys that kernels with queries as columns have, but for those of which CTAs share
// an SM for the sake of short tiles.
constexpr unsigned usual_block(const AttentionConfig& config) {
  return config.tiling.n <= 128 ? 128 : 64;
}

}  // namespace

Status choose_attention(LaunchChoice& choice, const Checked& problem,
                        const DispatchRequest& request, std::vector<LaunchRejection>* rejections) {
  std::string nearest = "There is none for this device.";
  unsigned fewest = 0;  // obstacles; those of the nearest
  // The best that has all keys in one tile, the best that has them in parts, and the best whose
  // parts are the CTAs of a cluster.
  LaunchChoice best[3] = {};
  const Priced by = priced(problem.as<tw_attention_problem>(), request);
  const tw_attention_problem& asked = by.problem;
  const unsigned sms = by.sms;
  for (const Instance& instance : attention_instances()) {
    if (request.instance != nullptr && std::strcmp(instance.name, request.instance) != 0) continue;
    if (!runs_on(instance.target, request.target, instance.capability_end)) continue;
    const auto& config = *static_cast<const AttentionConfig*>(instance.facts);
    // A cut that depends on the number of SMs and on the batch is no invariant one.
    const bool cuts_freely = config.swapped != 0 && !request.batch_invariant;
    const LaunchOrder order = cuts_freely ? cut_of_keys(config, asked, sms) : LaunchOrder();
    Status status = instance.supports(problem, {order});
    // With parts of keys, the workspace is asked for when one is chosen.
    const bool asks = config.part_blocks == 0 && config.scheduling == Scheduling::Dynamic;
    status.unless(!asks || workspace_counter_bytes <= request.workspace_limit, [&] {
      return sentence("This kernel needs a workspace of {} bytes, but workspace_limit is {}.",
                      workspace_counter_bytes, request.workspace_limit);
    });
    // A row's weights are scaled block by block: bits depend on where blocks of keys end.
    const bool is_named = request.instance != nullptr;
    const bool has_usual_block = config.swapped == 0 || config.keys == usual_block(config);
    status.unless(is_named || !request.batch_invariant || has_usual_block, [&] {
      return sentence(
          "This kernel takes keys by {}; with batch_invariant all of its columns take them by {}.",
          config.keys, usual_block(config));
    });
    status.unless(is_named || !request.batch_invariant || config.parts_in_cluster == 0, [] {
      return "CTAs of a cluster cut keys as there are SMs; with batch_invariant none do.";
    });
    constexpr std::int64_t few = 4;
    status.unless(is_named || asked.queries <= few || config.parts_in_cluster == 0, [&] {
      return sentence("queries = {}; this kernel is taken by itself for up to {}.", asked.queries,
                      few);
    });
    // A part of a device may have no room for eight CTAs side by side, and nobody asks it.
    status.unless(is_named || request.sms >= whole_device || config.parts_in_cluster == 0, [&] {
      return sentence("The device has {} SMs; clusters are taken by themselves from {} on.",
                      request.sms, whole_device);
    });
    // Whether it is allowed that sums never join depends on how many keys there are.
    status.unless(is_named || !request.batch_invariant || config.summed_blocks != 0, [] {
      return "Sums of this kernel never join in float32; with batch_invariant they must.";
    });
    if (!status.is_good()) {
      if (fewest == 0 || status.obstacles() < fewest) {
        nearest = sentence("The nearest, {}: {}", instance.name, status.sentence());
        fewest = status.obstacles();
      }
      if (rejections != nullptr) rejections->push_back({&instance, status.sentence()});
      continue;
    }
    const bool is_native = std::strcmp(instance.target, request.target) == 0;
    const double time = time_on(request.target, instance, asked, sms, order);
    // A kernel of the device itself goes before one of an older one that does the same.
    LaunchChoice& of_kind = best[config.parts_in_cluster != 0 ? 2
                                 : config.part_blocks != 0    ? 1
                                                              : 0];
    const bool best_is_native =
        of_kind.instance != nullptr && std::strcmp(of_kind.instance->target, request.target) == 0;
    if (of_kind.instance == nullptr || (is_native && !best_is_native) ||
        (is_native == best_is_native && time < of_kind.microseconds)) {
      of_kind = {&instance, order, time, false};
    }
  }
  const bool takes_parts =
      best[1].instance != nullptr &&
      (best[0].instance == nullptr || beside_tiles(best[1], asked) < best[0].microseconds);
  const bool takes_clusters =
      best[2].instance != nullptr &&
      (best[0].instance == nullptr || best[2].microseconds < best[0].microseconds) &&
      (best[1].instance == nullptr || best[2].microseconds < beside_clusters(best[1]));
  choice = best[takes_clusters ? 2 : takes_parts ? 1 : 0];
  if (choice.instance != nullptr) {
    choice.microseconds = time_on(request.target, *choice.instance,
                                  problem.as<tw_attention_problem>(), request.sms, choice.order);
    return Status::good();
  }
  return Status::refused(sentence("No compiled kernel {} on {}. {}", problem.description().does,
                                  request.target, nearest));
}

}  // namespace tw
