// Attention with few queries on the virtual GPU: a row is the same bit by bit, whatever else is
// computed and wherever its keys lie. And which kernel is taken.
#include "src/families/attention.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <tuple>

#include "tests/families/schedule.h"
#include "tilewright/family/attention/kernel.h"

namespace tw::tests {
namespace {

using Family = AttentionFamily;
using Problem = tw_attention_problem;

// Three queries of four heads that share keys, in two sequences; the first has keys of two parts.
Case few_queries(const Instance& instance) {
  Case made = usual_case(attention_trial, instance);
  auto& problem = made.as<Problem>();
  problem.heads = 8;
  problem.key_heads = 2;
  problem.queries = 3;
  problem.causal = 1;
  problem.page_size = 16;
  made.lists[Family::key_lengths] = {600, 90};
  made.fill = Fill::Normal;
  EXPECT_TRUE(serves(made).is_good()) << serves(made).sentence();
  return made;
}

template <class Change>
HostMatrix output_of(HostProblem data, const Instance& instance, const Change& change) {
  AnyProblem placed = data.placed();
  change(placed.as<Problem>());
  Checked checked;
  Status status = check(checked, Family::description, placed.data());
  vgpu::Report report;
  if (status.is_good()) status = instance.simulate(checked, {}, schedule(1), report);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  return data.tensor(Family::output);
}

void expect_rows(const HostMatrix& found, const HostMatrix& right, std::int64_t first,
                 std::int64_t end) {
  for (std::int64_t head = 0; head < right.batch; ++head) {
    for (std::int64_t row = first; row < end; ++row) {
      for (std::int64_t column = 0; column < right.columns; ++column) {
        ASSERT_EQ(found.at(head, row, column), right.at(head, row, column))
            << "head " << head << ", row " << row << ", column " << column;
      }
    }
  }
}

template <class Body>
void each_that_takes_parts(const Body& body) {
  int count = 0;
  for (const Instance& instance : attention_instances()) {
    if (static_cast<const AttentionConfig*>(instance.facts)->part_blocks == 0) continue;
    body(instance);
    ++count;
  }
  EXPECT_GT(count, 0);
}

// The last `queries` of `sequences`, of two sequences of three queries.
void leave(Problem& problem, std::int64_t sequences, std::int64_t queries) {
  const std::int64_t skipped = 6 - sequences * queries;
  for (tw_matrix* const matrix : {&problem.q, &problem.output}) {
    const std::int64_t bytes = matrix->type == TW_E4M3 ? 1 : 2;
    matrix->data = static_cast<std::byte*>(matrix->data) + skipped * matrix->row_stride * bytes;
  }
  problem.key_ends += 2 - sequences;
  problem.page_table += (2 - sequences) * problem.table_pitch;
  problem.sequences = sequences;
  problem.queries = queries;
}

TEST(AttentionParts, ASequenceAloneIsTheSame) {
  each_that_takes_parts([](const Instance& instance) {
    const HostProblem data(few_queries(instance));
    const HostMatrix all = output_of(data, instance, [](Problem&) {});
    const HostMatrix second = output_of(data, instance, [](Problem& p) { leave(p, 1, 3); });
    expect_rows(second, all, 3, 6);
  });
}

TEST(AttentionParts, AQueryAloneIsTheSame) {
  each_that_takes_parts([](const Instance& instance) {
    Case made = few_queries(instance);
    // The last key of the first query is that of a part.
    made.lists[Family::key_lengths] = {90, 514};
    ASSERT_TRUE(serves(made).is_good());
    const HostProblem data(made);
    const HostMatrix all = output_of(data, instance, [](Problem&) {});
    for (const std::int64_t queries : {1, 2}) {
      const HostMatrix last = output_of(data, instance, [&](Problem& p) { leave(p, 1, queries); });
      expect_rows(last, all, 6 - queries, 6);
    }
  });
}

TEST(AttentionParts, PagesInAnotherOrderAreTheSame) {
  each_that_takes_parts([](const Instance& instance) {
    const Case made = few_queries(instance);
    const HostProblem data(made);
    HostProblem moved = data;
    const std::int64_t pages = made.problem.as<Problem>().pages;
    const auto place = [&](std::int64_t page) { return (page + 5) % pages; };
    for (const unsigned tensor : {Family::k, Family::v}) {
      const HostMatrix& from = data.tensor(tensor);
      moved.tensor(tensor).fill([&](std::int64_t head, std::int64_t row, std::int64_t column) {
        const std::int64_t page = (row / 16 + pages - 5) % pages;
        return from.at(head, page * 16 + row % 16, column);
      });
    }
    HostMatrix& table = moved.tensor(Family::page_table);
    table.fill([&, given = table](auto, auto, std::int64_t i) {
      const auto page = static_cast<std::int64_t>(given.at(0, 0, i));
      return static_cast<double>(page < 0 ? page : place(page));
    });
    const HostMatrix all = output_of(data, instance, [](Problem&) {});
    expect_rows(output_of(moved, instance, [](Problem&) {}), all, 0, 6);
  });
}

// A kernel of the same elements with parts of so many blocks, which weighs all rows.
const Instance* kernel_like(const Instance& instance, unsigned part_blocks) {
  const auto& config = *static_cast<const AttentionConfig*>(instance.facts);
  for (const Instance& other : attention_instances()) {
    const auto& found = *static_cast<const AttentionConfig*>(other.facts);
    if (found.part_blocks == part_blocks && found.upper_rows == 0 && found.swapped == 0 &&
        std::strcmp(other.target, instance.target) == 0 &&
        found.memory_type() == config.memory_type() &&
        found.key_memory_type() == config.key_memory_type() && found.tiling.n == config.tiling.n &&
        found.head_columns() == config.head_columns()) {
      return &other;
    }
  }
  return nullptr;
}

TEST(AttentionParts, RowsThatNobodyWeighsChangeNoOthers) {
  each_that_takes_parts([](const Instance& instance) {
    const auto& config = *static_cast<const AttentionConfig*>(instance.facts);
    if (config.upper_rows == 0) return;
    const Instance* const all_rows = kernel_like(instance, config.part_blocks);
    ASSERT_NE(all_rows, nullptr);
    Case made = few_queries(instance);
    made.lists[Family::key_lengths] = {1100, 90};  // parts have 1024
    ASSERT_TRUE(serves(made).is_good()) << serves(made).sentence();
    const HostProblem data(made);
    expect_rows(output_of(data, instance, [](Problem&) {}),
                output_of(data, *all_rows, [](Problem&) {}), 0, 6);
  });
}

// What is decoded token by token may differ from the rows of a prefill in its bits, as parts of
// keys are joined, but not by more than the bound that prefill itself is held to.
TEST(AttentionParts, DecodedTokensAreWithinTheBoundOfPrefillsRows) {
  each_that_takes_parts([](const Instance& instance) {
    const Instance* const prefill = kernel_like(instance, 0);
    if (prefill == nullptr) return;
    Case made = usual_case(attention_trial, *prefill);
    auto& problem = made.as<Problem>();
    problem.sequences = 1;
    problem.heads = 4;
    problem.key_heads = 2;
    problem.queries = 70;
    problem.keys = 1100;  // parts have 512 or 1024
    problem.causal = 1;
    made.fill = Fill::Normal;
    ASSERT_TRUE(serves(made).is_good()) << serves(made).sentence();
    const Verified verified(made);
    HostProblem data = verified.given();
    HostMatrix& output = data.tensor(Family::output);
    output = output_of(data, *prefill, [](Problem&) {});
    ASSERT_TRUE(verified.compare(data).good()) << verified.compare(data).complaint();
    for (const std::int64_t token : {std::int64_t{0}, std::int64_t{41}, problem.queries - 1}) {
      for (std::int64_t head = 0; head < problem.heads; ++head) {
        for (std::int64_t column = 0; column < output.columns; ++column) {
          output.set(head, token, column, std::numeric_limits<double>::quiet_NaN());
        }
      }
      EXPECT_FALSE(verified.compare(data).good());
      output = output_of(data, instance, [&](Problem& p) {
        for (tw_matrix* const matrix : {&p.q, &p.output}) {
          const std::int64_t bytes = matrix->type == TW_E4M3 ? 1 : 2;
          matrix->data = static_cast<std::byte*>(matrix->data) + token * matrix->row_stride * bytes;
        }
        p.keys -= p.queries - 1 - token;
        p.queries = 1;
      });
      EXPECT_TRUE(verified.compare(data).good()) << instance.name << ", token " << token << "\n"
                                                 << verified.compare(data).complaint();
    }
  });
}

const Instance* instance_named(const char* name) {
  for (const Instance& instance : attention_instances()) {
    if (std::strcmp(instance.name, name) == 0) return &instance;
  }
  return nullptr;
}

// Chunks of prompts over keys in pages: the bits are those of the same keys in rows.
TEST(AttentionPages, ChunksHaveTheBitsOfRows) {
  const Instance *const in_pages = instance_named("attention_128_paged"), *const in_rows =
                                                                              instance_named(
                                                                                  "attention_128");
  ASSERT_TRUE(in_pages != nullptr && in_rows != nullptr);
  const auto case_of = [](const Instance& instance, std::int64_t page_size) {
    Case made = usual_case(attention_trial, instance);
    auto& problem = made.as<Problem>();
    problem.heads = 2;
    problem.causal = 1;
    problem.page_size = page_size;
    problem.queries = 130;
    made.lists[Family::key_lengths] = {200, 131, 40};
    if (page_size == 0) made.lists[Family::query_lengths] = {130, 130, 130};
    made.fill = Fill::Normal;
    EXPECT_TRUE(serves(made).is_good()) << serves(made).sentence();
    return made;
  };
  const Case paged = case_of(*in_pages, 16), packed = case_of(*in_rows, 0);
  const HostProblem pages(paged);
  HostProblem rows(packed);
  rows.tensor(Family::q).fill([&](std::int64_t head, std::int64_t row, std::int64_t column) {
    return pages.tensor(Family::q).at(head, row, column);
  });
  const auto from = sequences_of(paged), to = sequences_of(packed);
  for (const unsigned tensor : {Family::k, Family::v}) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      for (std::int64_t key = 0; key < to[i].keys; ++key) {
        const auto [matrix, row] = from[i].place(paged.problem.as<Problem>(), 0, key);
        for (std::int64_t column = 0; column < 128; ++column) {
          const double number = pages.tensor(tensor).at(matrix, row, column);
          rows.tensor(tensor).set(0, to[i].key_begin + key, column, number);
        }
      }
    }
  }
  const auto nothing = [](Problem&) {};
  expect_rows(output_of(pages, *in_pages, nothing), output_of(rows, *in_rows, nothing), 0, 390);
}

// The kernel that is chosen on a target for so many queries and keys of the first instance that
// `has` what is asked for.
std::string chosen_on(const char* target, bool (*has)(const AttentionConfig&), std::int64_t queries,
                      std::int64_t keys) {
  const auto all = attention_instances();
  const auto like = std::find_if(all.begin(), all.end(), [&](const Instance& instance) {
    return has(*static_cast<const AttentionConfig*>(instance.facts));
  });
  Case made = usual_case(attention_trial, *like);
  auto& problem = made.as<Problem>();
  problem.queries = queries;
  problem.keys = keys;
  const AnyProblem placed = problem_without_memory(made);
  Checked checked;
  LaunchChoice choice;
  Status status = check(checked, Family::description, placed.data());
  if (status.is_good()) status = choose_attention(choice, checked, {.target = target}, nullptr);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  return choice.instance != nullptr ? choice.instance->name : "";
}

// On sm_90a e4m3 has a kernel of its own for many queries, but for few only those of sm_80, which
// take keys in parts; these serve sm_100a, too.
TEST(AttentionChoice, OfE4m3) {
  const auto e4m3 = [](const AttentionConfig& config) { return config.e4m3_products != 0; };
  EXPECT_EQ(chosen_on("sm90a", e4m3, 1000, 1000), "attention_128_e4m3");
  EXPECT_EQ(chosen_on("sm90a", e4m3, 1, 8000), "attention_128_e4m3_decode_ampere");
  EXPECT_EQ(chosen_on("sm100a", e4m3, 1, 8000), "attention_128_e4m3_decode_ampere");
}

// Kernels whose tensor core adds up many keys of e4m3 are taken where the problem allows it.
TEST(AttentionChoice, OfSumsOfE4m3) {
  const auto chosen = [](std::int64_t columns, std::int64_t keys, std::int64_t sums_join_every,
                         bool batch_invariant = false) {
    Case made = usual_case(attention_trial, *instance_named("attention_128_e4m3"));
    auto& problem = made.as<Problem>();
    problem.head_size = columns;
    problem.heads = problem.key_heads = 32;
    problem.queries = problem.keys = keys;
    problem.sums_join_every = sums_join_every;
    const AnyProblem placed = problem_without_memory(made);
    Checked checked;
    LaunchChoice choice;
    Status status = check(checked, Family::description, placed.data());
    if (status.is_good()) {
      status = choose_attention(choice, checked,
                                {.target = "sm90a", .sms = 132, .batch_invariant = batch_invariant},
                                nullptr);
    }
    EXPECT_TRUE(status.is_good()) << status.sentence();
    return std::string(choice.instance != nullptr ? choice.instance->name : "");
  };
  EXPECT_EQ(chosen(128, 4096, 0), "attention_128_e4m3");
  EXPECT_EQ(chosen(128, 4096, 128), "attention_128_e4m3");
  EXPECT_EQ(chosen(128, 4096, 640), "attention_128_e4m3_k160");
  EXPECT_EQ(chosen(128, 4224, 4223), "attention_128_e4m3_k160");
  EXPECT_EQ(chosen(128, 4224, 4224), "attention_128_e4m3_k192");
  // One key more would forbid it, and bits would depend on that.
  EXPECT_EQ(chosen(128, 4224, 4224, true), "attention_128_e4m3_k160");
  EXPECT_EQ(chosen(64, 4096, 0), "attention_128_e4m3");
  EXPECT_EQ(chosen(64, 4096, 192), "attention_64_e4m3");
  // No sum of so few keys is there: bytes become bf16.
  EXPECT_EQ(chosen(128, 4096, 32), "attention_128_e4m3_ampere");
}

// A tile of the work has 256 queries there; few of them go to sm_80's kernel.
TEST(AttentionChoice, OnBlackwell) {
  const auto usual = [](const AttentionConfig& config) { return config.tiling.n == 128; };
  EXPECT_EQ(chosen_on("sm100a", usual, 1000, 1000), "attention_128_blackwell");
  EXPECT_EQ(chosen_on("sm100a", usual, 1, 8000), "attention_128_decode_ampere");
}

// Short sequences go to tiles of which several CTAs of an SM have one each, long ones do not.
TEST(AttentionChoice, OfShortSequences) {
  const auto chosen = [](std::int64_t columns, std::int64_t sequences, std::int64_t heads,
                         std::int64_t tokens, std::int64_t queries = 0) {
    Case made = usual_case(attention_trial,
                           *instance_named(columns == 64 ? "attention_64" : "attention_128"));
    auto& problem = made.as<Problem>();
    problem.heads = problem.key_heads = heads;
    problem.sequences = sequences;
    problem.keys = tokens;
    problem.queries = queries > 0 ? queries : tokens;
    const AnyProblem placed = problem_without_memory(made);
    Checked checked;
    LaunchChoice choice;
    Status status = check(checked, Family::description, placed.data());
    if (status.is_good()) {
      status = choose_attention(choice, checked, {.target = "sm90a", .sms = 132}, nullptr);
    }
    EXPECT_TRUE(status.is_good()) << status.sentence();
    return std::string(choice.instance != nullptr ? choice.instance->name : "");
  };
  EXPECT_EQ(chosen(64, 8, 12, 197), "attention_64_x4");
  EXPECT_EQ(chosen(64, 4, 32, 4096), "attention_64_dynamic");
  EXPECT_EQ(chosen(128, 2, 10, 128), "attention_128_x2");
  EXPECT_EQ(chosen(128, 4, 32, 2048), "attention_128_dynamic");
  // Memory bounds one query of heads that share no keys.
  EXPECT_EQ(chosen(64, 16, 16, 4096, 1), "attention_64_decode_8");
  EXPECT_EQ(chosen(128, 16, 16, 4096, 1), "attention_128_decode_8");
}

// Keys are cut for the SMs, where a row's bits may depend on the cut.
TEST(AttentionChoice, OfFewQueries) {
  const auto chosen = [](std::int64_t sequences, std::int64_t keys, bool batch_invariant,
                         unsigned sms = 132) {
    const auto all = attention_instances();
    const auto swapped = std::find_if(all.begin(), all.end(), [](const Instance& instance) {
      return static_cast<const AttentionConfig*>(instance.facts)->swapped != 0;
    });
    Case made = usual_case(attention_trial, *swapped);
    auto& problem = made.as<Problem>();
    problem.heads = 32;
    problem.key_heads = 8;
    problem.sequences = sequences;
    problem.queries = 1;
    problem.keys = keys;
    const AnyProblem placed = problem_without_memory(made);
    Checked checked;
    LaunchChoice choice;
    Status status = check(checked, Family::description, placed.data());
    if (status.is_good()) {
      status = choose_attention(
          choice, checked,
          {.target = swapped->target, .sms = sms, .batch_invariant = batch_invariant}, nullptr);
    }
    EXPECT_TRUE(status.is_good()) << status.sentence();
    return std::pair(std::string(choice.instance->name), choice.order);
  };
  const std::string usual = "attention_128_decode_8";
  const std::string cluster = "attention_128_decode_8_cluster";
  EXPECT_EQ(chosen(1, 32768, false), std::pair(usual, LaunchOrder{.split_k = 16}));
  EXPECT_EQ(chosen(16, 4096, false), std::pair(usual, LaunchOrder{.stream_k = true}));
  EXPECT_EQ(chosen(16, 4096, true), std::pair(usual, LaunchOrder()));
  // There are counters for fewer tiles with parts.
  EXPECT_EQ(chosen(1000, 4096, false), std::pair(usual, LaunchOrder{.stream_k = true}));
  // Where a launch is short, parts are joined by CTAs of a cluster, unless bits may not depend on
  // the cut.
  EXPECT_EQ(chosen(1, 4096, false), std::pair(cluster, LaunchOrder{.split_k = 8}));
  EXPECT_EQ(chosen(4, 500, false), std::pair(cluster, LaunchOrder{.split_k = 4}));
  EXPECT_EQ(chosen(1, 4096, true), std::pair(usual, LaunchOrder()));
  // A slice of a device may have no room for a cluster of eight.
  EXPECT_EQ(chosen(1, 4096, false, 114).first, cluster);
  for (const unsigned sms : {16u, 60u, 64u}) {
    EXPECT_EQ(chosen(1, 4096, false, sms).first.find("_cluster"), std::string::npos) << sms;
    EXPECT_EQ(chosen(4, 500, false, sms).first.find("_cluster"), std::string::npos) << sms;
  }
}

// An invariant choice: where blocks of keys and parts end does not depend on the batch, its keys or
// the device. There are counters for all tiles with parts here.
TEST(AttentionChoice, OfAnyBatch) {
  struct Form {
    const char* like;
    std::int64_t heads, key_heads, queries;
    bool is_ragged;
  };
  const auto chosen = [](const Form& form, std::int64_t sequences, std::int64_t keys,
                         unsigned sms) -> const AttentionConfig* {
    Case made = usual_case(attention_trial, *instance_named(form.like));
    auto& problem = made.as<Problem>();
    problem.heads = form.heads;
    problem.key_heads = form.key_heads;
    problem.sequences = sequences;
    problem.queries = form.queries * (form.is_ragged ? sequences : 1);
    problem.keys = keys * (form.is_ragged ? sequences : 1);
    AnyProblem placed = problem_without_memory(made);
    if (problem.values_in_keys != 0) {
      placed.as<Problem>().v.data = nullptr;
      placed.as<Problem>().v_scales = nullptr;
    }
    static const std::int32_t ends[1] = {};  // nobody reads them
    if (form.is_ragged) {
      placed.as<Problem>().query_ends = placed.as<Problem>().key_ends = ends;
    }
    Checked checked;
    LaunchChoice choice;
    Status status = check(checked, Family::description, placed.data());
    const DispatchRequest request = {.target = "sm90a", .sms = sms, .batch_invariant = true};
    if (status.is_good()) status = choose_attention(choice, checked, request, nullptr);
    EXPECT_TRUE(status.is_good()) << status.sentence();
    if (choice.instance == nullptr) return nullptr;
    EXPECT_EQ(choice.order, LaunchOrder());
    return static_cast<const AttentionConfig*>(choice.instance->facts);
  };
  for (const Form& form :
       {Form{"attention_128_decode_8", 32, 8, 1, false},
        Form{"attention_128_decode_8", 64, 8, 1, false},
        Form{"attention_128_decode_8", 12, 12, 1, false},
        Form{"attention_128_decode_8", 32, 2, 1, false},
        Form{"attention_128_decode_8", 32, 8, 4, false},
        Form{"attention_128_decode_8", 32, 8, 24, false},
        Form{"attention_64_decode_8", 32, 8, 1, false},
        Form{"attention_64_decode_8", 64, 2, 1, false},
        Form{"attention_256_decode_8", 16, 8, 1, false},
        Form{"attention_128_fp16_decode_8", 32, 8, 1, false},
        Form{"attention_128_e4m3_keys_decode_8", 64, 8, 1, false},
        Form{"attention_576_decode_8", 16, 1, 1, false},
        Form{"attention_576_e4m3_keys_decode_16", 128, 1, 1, false},
        Form{"attention_128", 8, 8, 128, false}, Form{"attention_128", 8, 8, 2000, false},
        Form{"attention_64", 12, 12, 197, false}, Form{"attention_64", 12, 12, 2000, false},
        Form{"attention_128", 8, 8, 128, true}, Form{"attention_64", 12, 12, 197, true}}) {
    const AttentionConfig* const first = chosen(form, 1, 200, 132);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->part_blocks != 0, form.queries < 8) << form.like;
    if (first->swapped != 0) {
      EXPECT_EQ(first->part_blocks * first->keys, 1024u);
    }
    for (std::int64_t sequences = 1; sequences <= 256; sequences *= 2) {
      for (const std::int64_t keys : {200, 1000, 4096}) {
        for (const unsigned sms : {114u, 132u}) {
          const AttentionConfig* const found = chosen(form, sequences, keys, sms);
          ASSERT_NE(found, nullptr);
          EXPECT_EQ(std::tie(found->keys, found->part_blocks, found->swapped),
                    std::tie(first->keys, first->part_blocks, first->swapped))
              << form.like << ", heads " << form.heads << ", queries " << form.queries
              << ", sequences " << sequences << ", keys " << keys << ", SMs " << sms;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tw::tests
