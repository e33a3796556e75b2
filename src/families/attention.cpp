#include "src/families/attention.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "tilewright/arch/target.h"
#include "tilewright/family/attention/kernel.h"
#include "tilewright/launch/targets.h"

namespace tw {

namespace {

using Family = AttentionFamily;
using Problem = Family::Problem;
using Sequence = AttentionSequence;

const AttentionConfig& config_of_instance(const Instance& instance) {
  return *static_cast<const AttentionConfig*>(instance.facts);
}

// No problem of a tool has more keys, and no number of its command line is larger.
constexpr std::int64_t most_joined = 65536;

void adopt(void* given, const Instance& instance,
           const std::function<bool(const char*)>& is_given) {
  Problem& problem = *static_cast<Problem*>(given);
  const AttentionConfig& config = config_of_instance(instance);
  if (!is_given("head_size")) problem.head_size = config.head_columns();
  if (!is_given("queries") && config.upper_rows != 0) problem.queries = 5;
  if (!is_given("value_size")) {
    problem.value_size = config.head_columns() == config.tiling.n ? 0 : config.tiling.n;
    if (config.values_in_keys != 0) {
      problem.value_size = std::min(problem.value_size, problem.head_size);
    }
  }
  if (!is_given("values_in_keys")) {
    problem.values_in_keys = static_cast<int>(config.values_in_keys);
  }
  if (!is_given("q_type")) problem.q.type = static_cast<tw_type>(config.memory_type());
  for (const auto& [name, tensor] :
       {std::pair("k_type", &problem.k), std::pair("v_type", &problem.v)}) {
    if (!is_given(name)) tensor->type = static_cast<tw_type>(config.key_memory_type());
  }
  if (config.ranges != 0 && problem.range_begins == nullptr && problem.range_ends == nullptr) {
    problem.range_begins = problem.range_ends = static_cast<const std::int32_t*>(some_address());
  }
  if (!is_given("sums_join_every") && config.e4m3_products != 0) {
    const std::int64_t summed = config.summed_keys(most_joined);
    if (summed > Family::summed_keys(problem)) problem.sums_join_every = summed;
  }
  if (!is_given("output_type")) problem.output.type = static_cast<tw_type>(config.d_type);
  // Who names some scales means these alone.
  if (config.from_e4m3 + config.e4m3_keys != 0 && problem.q_scales == nullptr &&
      problem.k_scales == nullptr && problem.v_scales == nullptr) {
    problem.k_scales = static_cast<const float*>(some_address());
    if (config.values_in_keys == 0) problem.v_scales = problem.k_scales;
    if (config.from_e4m3 != 0) problem.q_scales = problem.k_scales;
  }
}

Status lengths_differ(std::size_t queries, std::size_t keys) {
  return Status::refused(sentence(
      "There are {} --query-lengths, but {} --key-lengths: each sequence has one.", queries, keys));
}

Status settle(void* given, const Lists& lists, const Instance&) {
  Problem& problem = *static_cast<Problem*>(given);
  const std::vector<std::int64_t>&queries = lists[Family::query_lengths],
        &keys = lists[Family::key_lengths];
  if (Family::is_paged(problem)) {
    if (keys.empty()) return Status::refused("Keys in pages have --key-lengths.");
    if (!queries.empty()) {
      if (queries.size() != keys.size()) return lengths_differ(queries.size(), keys.size());
      problem.query_ends = static_cast<const std::int32_t*>(some_address());
      problem.queries = std::accumulate(queries.begin(), queries.end(), std::int64_t{0});
    }
    problem.sequences = static_cast<std::int64_t>(keys.size());
    problem.keys = *std::max_element(keys.begin(), keys.end());
    problem.key_ends = problem.page_table = static_cast<const std::int32_t*>(some_address());
    problem.table_pitch = (problem.keys + problem.page_size - 1) / problem.page_size + 1;
    std::int64_t needed = 0;
    for (const std::int64_t length : keys) {
      needed += (length + problem.page_size - 1) / problem.page_size;
    }
    problem.pages = std::max(problem.pages, needed + 1);
    return Status::good();
  }
  if (queries.size() != keys.size()) return lengths_differ(queries.size(), keys.size());
  problem.query_ends = problem.key_ends =
      queries.empty() ? nullptr : static_cast<const std::int32_t*>(some_address());
  if (queries.empty()) return Status::good();
  problem.sequences = static_cast<std::int64_t>(queries.size());
  problem.queries = std::accumulate(queries.begin(), queries.end(), std::int64_t{0});
  problem.keys = std::accumulate(keys.begin(), keys.end(), std::int64_t{0});
  return Status::good();
}

// Few queries, keys in one part and in several, in pages or not.
void random_parts(Case& made, Random& random) {
  Problem& problem = made.as<Problem>();
  const AttentionConfig& config = config_of_instance(*made.instance);
  const std::int64_t part = std::int64_t{config.part_blocks} * config.keys;
  const auto length = [&] {
    const std::int64_t lengths[] = {0, 1, between(random, 2, config.keys), part,
                                    part + between(random, 1, part)};
    return lengths[random() % 5];
  };
  problem.queries = random() % 4 == 0 ? between(random, 8, config.upper_rows != 0 ? 8 : 20)
                                      : between(random, 1, 4);
  problem.sequences = between(random, 1, 2);
  problem.keys = length();
  if (random() % 3 == 0) made.order.split_k = static_cast<int>(between(random, 2, 6));
  made.order.stream_k = made.order.split_k == 1 && random() % 3 == 0;
  if (random() % 3 == 0) return;
  // Copies by threads take pages of any size.
  const bool is_any = std::strcmp(made.instance->target, target::sm80.name) == 0 ||
                      target_named(made.instance->target)->lanes == 64;
  problem.page_size = is_any ? between(random, 1, 200) : std::int64_t{8} << random() % 6;
  problem.heads_in_pages = random() % 2 == 0;
  for (std::int64_t i = 0; i < problem.sequences; ++i) {
    made.lists[Family::key_lengths].push_back(length());
  }
}

// Chunks of prompts whose keys lie in pages.
void random_pages(Case& made, Random& random) {
  Problem& problem = made.as<Problem>();
  const AttentionConfig& config = config_of_instance(*made.instance);
  problem.queries = between(random, 1, config.tiling.m + 5);
  problem.page_size = std::int64_t{8} << random() % 6;
  problem.heads_in_pages = random() % 2 == 0;
  const std::int64_t sequences = between(random, 1, 3);
  for (std::int64_t i = 0; i < sequences; ++i) {
    const std::int64_t keys[] = {0, 1, between(random, 2, config.keys),
                                 between(random, config.keys, 2 * config.keys)};
    made.lists[Family::key_lengths].push_back(keys[random() % 4]);
  }
  if (random() % 2 == 0) return;
  for (std::int64_t i = 0; i < sequences; ++i) {
    const std::int64_t queries[] = {0, 1, between(random, 2, config.tiling.m + 5)};
    made.lists[Family::query_lengths].push_back(queries[random() % 3]);
  }
}

// Heads that share keys or do not, sequences of one length or of several, among them empty ones and
// such of one token, keys that end before, at and behind the end of a block; windows, caps, sinks.
void random_problem(Case& made, Random& random) {
  Problem& problem = made.as<Problem>();
  const AttentionConfig& config = config_of_instance(*made.instance);
  const std::int64_t rows = config.tiling.m, block = config.keys;
  problem.key_heads = between(random, 1, 2);
  const bool is_few = config.upper_rows != 0;
  problem.heads = problem.key_heads * between(random, 1,
                                              is_few                    ? 4
                                              : config.part_blocks != 0 ? 9
                                                                        : 2);
  problem.causal = random() % 2 == 0 && config.ranges == 0;
  if (random() % 4 == 0) problem.scale = 0.5f;
  if (random() % 2 == 0) problem.log_sums.data = some_address();
  if (random() % 3 == 0) problem.sinks = static_cast<const float*>(some_address());
  // A cap must leave the scores of one-hot rows apart.
  const bool caps = random() % (made.fill == Fill::Normal ? 2 : 3) == 0;
  if (caps) problem.softcap = made.fill == Fill::Normal ? 2.0f : 16384.0f;
  // What a cap does to scores that a mask hides shows where both are.
  if (caps && random() % 3 != 0 && config.ranges == 0) problem.causal = 1;
  if (problem.causal != 0 && random() % 3 == 0) problem.window = between(random, 1, 3 * block);
  if (random() % 4 == 0) problem.head_size = 8 * between(random, 1, problem.head_size / 8);
  if (problem.values_in_keys != 0) {
    problem.value_size = std::min(problem.value_size, problem.head_size);
  }
  // One-hot rows of e4m3 need theirs.
  if (config.from_e4m3 + config.e4m3_keys != 0 && made.fill == Fill::Normal) {
    for (const float** const scales : {&problem.q_scales, &problem.k_scales, &problem.v_scales}) {
      if (random() % 3 == 0) *scales = nullptr;
    }
    // A line that names none means all.
    if (problem.q_scales == nullptr && problem.k_scales == nullptr) {
      const float*& scales = config.values_in_keys == 0 ? problem.v_scales : problem.k_scales;
      scales = static_cast<const float*>(some_address());
    }
  }
  const auto length = [&](std::int64_t tile) {
    const std::int64_t lengths[] = {0, 1, between(random, 2, tile), tile + between(random, -1, 1),
                                    between(random, tile, 2 * tile)};
    return lengths[random() % 5];
  };
  // Sums of several blocks join behind some of these, up to three times.
  const auto keys = [&] {
    if (config.summed_blocks > 1 && random() % 2 == 0) {
      return between(random, 1, 3) * config.summed_blocks * block + between(random, -1, block);
    }
    return length(block);
  };
  if (config.part_blocks != 0) return random_parts(made, random);
  if (config.pages != 0) return random_pages(made, random);
  // Tiles from a counter are of sequences whose lengths the host knows.
  const bool asks = config.scheduling == Scheduling::Dynamic;
  if (random() % 2 == 0 || asks) {
    problem.sequences = between(random, 1, 2);
    problem.queries = std::max<std::int64_t>(length(rows), 1);
    problem.keys = keys();
    return;
  }
  const std::int64_t sequences = between(random, 1, 3);
  for (std::int64_t i = 0; i < sequences; ++i) {
    made.lists[Family::query_lengths].push_back(length(rows / 2));
    made.lists[Family::key_lengths].push_back(keys());
  }
}

// Which of the keys that it sees a query of one-hot rows picks.
enum class Pick { Any, Last, First };

// Draws one-hot rows. Key j of a sequence has the digits of j: as 1 and -1 in the first half of the
// columns, as 1 and 0 in up to 12 of the other. A query of an even row picks any key that it sees,
// by its digits; one of an odd row the last that it sees, by weights of the digits, so that scores
// grow with j; one of every fourth row the first, by negative weights. Other keys weigh e to the
// -16 at most: a power of two, of which keys have one half and queries the other, sees to that.
// Where there are fewer than 24 columns, digits are missing, and several keys are picked together.
class Codes {
 public:
  // e4m3 has powers of 2 up to 2^8: its scales have the rest.
  Codes(std::int64_t columns, double scale, ElementType type)
      : half_(columns / 2), digits_(static_cast<int>(std::min<std::int64_t>(half_, 12))) {
    const int power = std::max(static_cast<int>(std::ceil(std::log2(16 / scale))), 0);
    const bool is_scaled = type == ElementType::E4m3;
    const int of_keys = is_scaled ? 0 : power / 2, of_queries = is_scaled ? -4 : power - power / 2;
    key_unit_ = std::ldexp(1.0, of_keys);
    query_unit_ = std::ldexp(1.0, of_queries);
    scale_ = std::ldexp(1.0, power - of_keys - of_queries);
  }
  // What scores are multiplied by, beside the units of queries and keys.
  double scale() const { return scale_; }
  // Columns that queries do not see: those of keys may have any number.
  bool is_free(std::int64_t column) const { return column >= half_ + digits_; }

  double key(std::int64_t j, std::int64_t column) const {
    if (column < half_) return key_unit_ * (2 * digit(j, column) - 1);
    return column - half_ < digits_ ? key_unit_ * digit(j, column - half_) : 0;
  }
  double query(std::int64_t j, Pick pick, std::int64_t column) const {
    const bool counts = pick != Pick::Any;
    if (column < half_) return counts ? 0 : query_unit_ * (2 * digit(j, column) - 1);
    if (!counts || column - half_ >= digits_) return 0;
    return query_unit_ * (1 << (column - half_)) * (pick == Pick::Last ? 1 : -1);
  }

 private:
  int digit(std::int64_t number, std::int64_t place) const {
    return static_cast<int>(number >> (place % digits_) & 1);
  }
  std::int64_t half_;
  int digits_;
  double key_unit_, query_unit_, scale_;
};

// For each head of keys, powers of 2: products with them are exact.
void fill_scales(HostProblem& data, const Case& of) {
  const Problem& problem = of.problem.as<Problem>();
  const Codes codes(problem.head_size, Family::scale(problem), data.tensor(Family::q).type);
  const double of_scores = of.fill == Fill::Normal ? 1.0 : codes.scale();
  // Without scales of queries, those of keys must leave the scores of one-hot rows apart.
  const int least = data.tensor(Family::q).type == ElementType::E4m3 ? -1 : 0;
  const auto of_keys = [&](std::int64_t head) {
    return std::ldexp(1.0, head % 3 == 1 ? least : 1);
  };
  data.tensor(Family::q_scales).fill([&](auto, auto, std::int64_t head) {
    return of_scores / of_keys(head);
  });
  data.tensor(Family::k_scales).fill([&](auto, auto, std::int64_t head) { return of_keys(head); });
  data.tensor(Family::v_scales).fill([&](auto, auto, std::int64_t head) {
    return std::ldexp(1.0, static_cast<int>(head % 3) - 1);
  });
}

void fill_one_hot(HostProblem& data, const Case& of) {
  const Problem& problem = of.problem.as<Problem>();
  const Codes codes(problem.head_size, Family::scale(problem), data.tensor(Family::q).type);
  HostMatrix &q = data.tensor(Family::q), &k = data.tensor(Family::k), &v = data.tensor(Family::v);
  Random random(of.seed);
  for (const Sequence& sequence : sequences_of(of)) {
    for (std::int64_t j = 0; j < sequence.keys; ++j) {
      for (std::int64_t head = 0; head < problem.key_heads; ++head) {
        const auto [matrix, row] = sequence.place(problem, head, j);
        const auto value = [&](std::int64_t column) {
          const auto place = static_cast<double>((head * 101 + j * 31 + column * 7) % 251 - 125);
          return of.fill == Fill::Position ? place : static_cast<double>(random() % 255) - 127;
        };
        for (std::int64_t column = 0; column < k.columns; ++column) {
          const bool is_value = problem.values_in_keys != 0 && codes.is_free(column);
          k.set(matrix, row, column, is_value ? value(column) : codes.key(j, column));
        }
        for (std::int64_t column = 0; v.exists() && column < v.columns; ++column) {
          v.set(matrix, row, column, value(column));
        }
      }
    }
    for (std::int64_t i = 0; i < sequence.queries; ++i) {
      const std::int64_t first = sequence.first(i, problem);
      const std::int64_t last_seen = std::max(sequence.end(i, problem) - 1, first);
      for (std::int64_t head = 0; head < problem.heads; ++head) {
        const Pick pick = i % 2 == 1 ? Pick::Last : i % 4 == 2 ? Pick::First : Pick::Any;
        const std::int64_t any = between(random, first, last_seen);
        const std::int64_t picked = pick == Pick::Last    ? last_seen
                                    : pick == Pick::First ? first
                                                          : any;
        for (std::int64_t column = 0; column < problem.head_size; ++column) {
          q.set(head, sequence.query_begin + i, column, codes.query(picked, pick, column));
        }
      }
    }
  }
}

void fill_normal(HostProblem& data, const Case& of) {
  const Problem& problem = of.problem.as<Problem>();
  Random random(of.seed);
  std::normal_distribution<double> normal;
  data.tensor(Family::q).fill([&](auto, auto, auto) { return normal(random); });
  for (const unsigned tensor : {Family::k, Family::v}) {
    HostMatrix& matrix = data.tensor(tensor);
    if (!matrix.exists()) continue;  // values in keys
    for (const Sequence& sequence : sequences_of(of)) {
      for (std::int64_t at = 0; at < problem.key_heads * sequence.keys * matrix.columns; ++at) {
        const std::int64_t of_head = at / matrix.columns;
        const auto [batch, row] =
            sequence.place(problem, of_head / sequence.keys, of_head % sequence.keys);
        matrix.set(batch, row, at % matrix.columns, normal(random));
      }
    }
  }
}

// Some ranges are written as if they reached beyond their sequence: kernels end them with it.
void fill_ranges(HostProblem& data, const std::vector<Sequence>& sequences) {
  HostMatrix &begins = data.tensor(Family::range_begins), &ends = data.tensor(Family::range_ends);
  if (!begins.exists()) return;
  for (const Sequence& sequence : sequences) {
    for (std::int64_t i = 0; i < sequence.queries; ++i) {
      const auto [first, end] = sequence.ranges[static_cast<std::size_t>(i)];
      const bool is_beyond = i % 3 == 1;
      begins.set(0, 0, sequence.query_begin + i,
                 static_cast<double>(is_beyond && first == 0 ? -7 : first));
      ends.set(0, 0, sequence.query_begin + i,
               static_cast<double>(is_beyond && end == sequence.keys ? end + 1000 : end));
    }
  }
}

// Fill::Normal: normally distributed numbers; others: one-hot rows, and values that are integers,
// whose rows come out as they are.
void fill(HostProblem& data, const Case& of) {
  const std::vector<Sequence> sequences = sequences_of(of);
  const Problem& problem = of.problem.as<Problem>();
  // What no sequence has in a cache may be anything.
  if (Family::is_paged(problem)) {
    for (const unsigned tensor : {Family::k, Family::v}) {
      data.tensor(tensor).fill(
          [](auto, auto, auto) { return std::numeric_limits<double>::quiet_NaN(); });
    }
  }
  if (of.fill == Fill::Normal) {
    fill_normal(data, of);
  } else {
    fill_one_hot(data, of);
  }
  fill_scales(data, of);
  // Below the scores of keys that are picked, and about those of others.
  Random random(of.seed + 1);
  data.tensor(Family::sinks).fill([&](auto, auto, auto) {
    return static_cast<double>(between(random, -8, 8)) / 4;
  });
  // Keys of a sequence without queries are nobody's, and may be anything.
  for (const Sequence& sequence : sequences) {
    if (sequence.queries > 0 || Family::is_paged(problem)) continue;
    for (const unsigned tensor : {Family::k, Family::v}) {
      HostMatrix& matrix = data.tensor(tensor);
      for (std::int64_t at = 0; at < matrix.batch * sequence.keys * matrix.columns; ++at) {
        matrix.set(at / matrix.columns / sequence.keys,
                   sequence.key_begin + at / matrix.columns % sequence.keys, at % matrix.columns,
                   std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
  const auto end_of = [&](std::int64_t i, auto begin, auto count) {
    const Sequence& sequence = sequences[static_cast<std::size_t>(i)];
    return static_cast<double>(sequence.*begin + sequence.*count);
  };
  data.tensor(Family::query_ends).fill([&](auto, auto, std::int64_t i) {
    return end_of(i, &Sequence::query_begin, &Sequence::queries);
  });
  data.tensor(Family::key_ends).fill([&](auto, auto, std::int64_t i) {
    return end_of(i, &Sequence::key_begin, &Sequence::keys);
  });
  fill_ranges(data, sequences);
  data.tensor(Family::page_table).fill([&](auto, auto, std::int64_t i) -> double {
    const Sequence& sequence = sequences[static_cast<std::size_t>(i / problem.table_pitch)];
    const auto page = static_cast<std::size_t>(i % problem.table_pitch);
    const bool is_one = page < sequence.pages.size();
    return is_one ? static_cast<double>(sequence.pages[page]) : -1000000.0;
  });
}

AttentionRounding rounding_of(const Instance& instance, const Problem& problem) {
  const AttentionConfig& config = config_of_instance(instance);
  return {config.product_type(), config.summed_keys(problem.keys)};
}

// The coarsest that any kernel may have for operands of a type: docs/attention.md states the bound
// that follows and derives it.
AttentionRounding coarsest_rounding(const HostMatrix& operand, const Problem& problem) {
  return {operand.type, std::max(Family::summed_keys(problem), Family::summed_keys({}))};
}

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  return attention_answer(of, given, rounding_of(*of.instance, of.problem.as<Problem>()));
}

std::shared_ptr<const Answer> answer_of_any_kernel(const Case& of, const HostProblem& given) {
  return attention_answer(of, given,
                          coarsest_rounding(given.tensor(Family::q), of.problem.as<Problem>()));
}

// One role loads, each group multiplies and stores, and each of the three rings has a track.
unsigned tracks(const Instance& instance) {
  const AttentionConfig& config = config_of_instance(instance);
  const unsigned groups = config.swapped != 0 ? config.column_groups() : config.tiling.m / 64;
  return config.tracing == Tracing::On ? 3 * (1 + 2 * groups) : 0;
}

InstanceWords list(const Instance& instance) {
  const AttentionConfig& config = config_of_instance(instance);
  const std::string keys =
      config.e4m3_keys != 0 ? fmt::format(" x {}", name_of(config.key_memory_type())) : "";
  return {fmt::format("{}{} -> {}", name_of(config.memory_type()), keys, name_of(config.d_type)),
          "-",
          fmt::format("{}x{}", config.tiling.m, config.tiling.n),
          "1x1",
          "-",
          fmt::format("{} keys", config.keys),
          config.scheduling == Scheduling::Static ? "static" : "dynamic"};
}

constexpr Trial trial_with(decltype(Trial::answer) judge) {
  return {.description = &Family::description,
          .instances = attention_instances,
          .adopt = adopt,
          .settle = settle,
          .random = random_problem,
          .fill = fill,
          .answer = judge,
          .list = list,
          .tracks = tracks,
          .parts = "parts of keys, all equally long; 1: as the kernel cuts them",
          .streams = "keys are not cut"};
}

}  // namespace

const Trial attention_trial = trial_with(answer);
const Trial attention_of_any_kernel = trial_with(answer_of_any_kernel);

}  // namespace tw
