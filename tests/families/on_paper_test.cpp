// The description of a family whose problem is hard to say: two products with lengths that only the
// device knows. It is checked as any other is.
#include <gtest/gtest.h>

#include "tilewright/host/checked.h"

namespace tw::tests {
namespace {

template <class P, class Spoil>
std::string refusal(const Description& description, P problem, const Spoil& spoil) {
  spoil(problem);
  Checked checked;
  return check(checked, description, &problem).sentence();
}

// ---- Attention: two products, a softmax between, lengths on the device.

struct AttentionProblem {
  std::size_t size;
  std::int64_t heads, key_heads, head_size, sequences, queries, keys;
  int causal;
  float scale;
  tw_matrix q, k, v, output;  // (token,column) of each head: a head is a matrix of the batch
  const std::int32_t* query_ends;
  const std::int32_t* key_ends;
  tw_matrix log_sums;  // (head,token); data null: none
};

struct Attention {
  using P = AttentionProblem;
  static constexpr Types elements = {ElementType::Bf16, ElementType::Fp16};
  static constexpr bool is_ragged(const P& p) { return p.query_ends != nullptr; }
  static constexpr std::int64_t query_rows(const P& p) {
    return p.queries * (is_ragged(p) ? 1 : p.sequences);
  }
  static constexpr std::int64_t key_rows(const P& p) {
    return p.keys * (is_ragged(p) ? 1 : p.sequences);
  }

  static constexpr IntegerField numbers[] = {
      number<&P::heads>("heads", {.meaning = "of queries", .usual = 4, .initial = 1, .low = 1}),
      number<&P::key_heads>("key_heads",
                            {.meaning = "of keys and values", .usual = 2, .initial = 1, .low = 1}),
      number<&P::head_size>(
          "head_size", {.meaning = "columns of a head", .usual = 128, .initial = 128, .low = 1}),
      number<&P::sequences>("sequences", {.meaning = "in the batch", .usual = 2, .initial = 1}),
      number<&P::queries>("queries", {.meaning = "tokens of a sequence, or of all", .usual = 200}),
      number<&P::keys>("keys", {.meaning = "tokens of a sequence, or of all", .usual = 300}),
      flag<&P::causal>("causal", "a query sees keys up to its own place")};
  static constexpr RealField reals[] = {
      real<&P::scale>("scale", "of the products of queries and keys", 0.088)};
  static constexpr Rule rules[] = {
      rule([](const P& p) { return p.heads % p.key_heads == 0; },
           [](const P& p) {
             return sentence("heads = {} must be a multiple of key_heads = {}.", p.heads,
                             p.key_heads);
           }),
      rule([](const P& p) { return (p.query_ends == nullptr) == (p.key_ends == nullptr); },
           [](const P&) {
             return sentence("Ends are given of queries and of keys, or of neither.");
           })};
  static constexpr TensorField tensors[] = {
      reads<&P::q>("q", {.title = "the queries", .types = elements, .one = "the matrix of queries"},
                   [](const P& p) {
                     return TensorExtents{p.heads, query_rows(p), p.head_size};
                   }),
      reads<&P::k>("k", {.title = "the keys", .types = elements, .one = "the matrix of keys"},
                   [](const P& p) {
                     return TensorExtents{p.key_heads, key_rows(p), p.head_size};
                   }),
      reads<&P::v>("v", {.title = "the values", .types = elements, .one = "the matrix of values"},
                   [](const P& p) {
                     return TensorExtents{p.key_heads, key_rows(p), p.head_size};
                   }),
      where([](const P& p) { return p.query_ends != nullptr; },
            integers<&P::query_ends>("query_ends", "the ends of queries",
                                     [](const P& p) { return p.sequences; })),
      where([](const P& p) { return p.key_ends != nullptr; },
            integers<&P::key_ends>("key_ends", "the ends of keys",
                                   [](const P& p) { return p.sequences; })),
      writes<&P::output>("output", {.title = "the output", .types = elements},
                         [](const P& p) {
                           return TensorExtents{p.heads, query_rows(p), p.head_size};
                         }),
      where([](const P& p) { return p.log_sums.data != nullptr; },
            writes<&P::log_sums>("log_sums",
                                 {.title = "the log sums",
                                  .types = ElementType::Fp32,
                                  .one = "the matrix of log sums"},
                                 [](const P& p) {
                                   return TensorExtents{1, p.heads, query_rows(p)};
                                 }))};
  static constexpr Description description = {
      "attention", "softmax(queries keys^T) values", "attends", sizeof(P), numbers, reals, rules,
      tensors};
};

// (token,head,column): heads lie side by side in a row of memory.
AttentionProblem packed_heads() {
  AttentionProblem problem = {};
  problem.size = sizeof problem;
  problem.heads = 8;
  problem.key_heads = 2;
  problem.head_size = 128;
  problem.sequences = 3;
  problem.queries = problem.keys = 100;
  problem.scale = 0.088f;
  const auto heads = [](std::uintptr_t address, std::int64_t count) {
    return tw_matrix{reinterpret_cast<void*>(address), count * 128, 1, 128, TW_BF16};
  };
  problem.q = heads(1 << 20, 8);
  problem.k = heads(2 << 20, 2);
  problem.v = heads(3 << 20, 2);
  problem.output = heads(4 << 20, 8);
  return problem;
}

TEST(OnPaper, Attention) {
  using P = AttentionProblem;
  const auto refused = [](const auto& spoil) {
    return refusal(Attention::description, packed_heads(), spoil);
  };
  static const std::int32_t ends[3] = {};
  EXPECT_EQ(refused([](P&) {}), "");
  EXPECT_EQ(refused([](P& p) { p.query_ends = p.key_ends = ends; }), "");
  EXPECT_EQ(refused([](P& p) { p.query_ends = ends; }),
            "Ends are given of queries and of keys, or of neither.");
  EXPECT_EQ(refused([](P& p) { p.key_heads = 3; }),
            "heads = 8 must be a multiple of key_heads = 3.");
  EXPECT_EQ(refused([](P& p) { p.heads = 0; }),
            "heads = 0 must be at least 1 and below 2^31 - 256.");
  EXPECT_EQ(refused([](P& p) { p.v.data = nullptr; }), "The address of the values is null.");
  // Heads of the output side by side are no overlap; rows closer than that are.
  EXPECT_EQ(refused([](P& p) { p.output.row_stride = 1000; }),
            "The batch pitch of the output is 128 elements, but a matrix takes 299128: matrices of "
            "the batch would overlap.");
  EXPECT_EQ(refused([](P& p) {
              p.log_sums = {reinterpret_cast<void*>(5 << 20), 299, 1, 0, TW_FP32};
            }),
            "The pitch of the log sums is 299 elements, but its lines have 300.");
  // No key: nothing is read, and the output is still written.
  EXPECT_EQ(refused([](P& p) {
              p.keys = 0;
              p.k.data = p.v.data = nullptr;
            }),
            "");
}

}  // namespace
}  // namespace tw::tests
