#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/families/attention.h"
#include "src/verify/parallel.h"

namespace tw {

namespace {

using Family = AttentionFamily;
using Problem = Family::Problem;
using Sequence = AttentionSequence;

// Pages in any order.
std::vector<Sequence> paged_sequences_of(const Case& of) {
  const Problem& problem = of.problem.as<Problem>();
  std::vector<std::int64_t> pages(static_cast<std::size_t>(problem.pages));
  std::iota(pages.begin(), pages.end(), 0);
  Random random(of.seed + 2);
  std::shuffle(pages.begin(), pages.end(), random);
  const std::vector<std::int64_t>& lengths = of.lists[Family::query_lengths];
  std::vector<Sequence> all;
  std::size_t next = 0;
  for (std::int64_t i = 0; i < problem.sequences; ++i) {
    const std::int64_t keys = of.lists[Family::key_lengths][static_cast<std::size_t>(i)];
    Sequence sequence = {i * problem.queries, problem.queries, 0, keys};
    if (!lengths.empty()) {
      sequence.queries = lengths[static_cast<std::size_t>(i)];
      sequence.query_begin = all.empty() ? 0 : all.back().query_begin + all.back().queries;
    }
    for (std::int64_t j = 0; j < keys; j += problem.page_size) {
      sequence.pages.push_back(pages[next++]);
    }
    all.push_back(sequence);
  }
  return all;
}

// Ranges of a causal mask, of windows or of documents; or any, some of which have no key.
std::vector<std::pair<std::int64_t, std::int64_t>> ranges_of(const Sequence& sequence,
                                                             std::uint64_t seed) {
  Random random(seed + 3);
  const std::int64_t keys = sequence.keys, behind = keys - sequence.queries + 1;
  const auto kind = random() % 4;
  const std::int64_t window = between(random, 1, std::max<std::int64_t>(keys, 1));
  const std::int64_t document = between(random, 1, std::max<std::int64_t>(keys, 1));
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (std::int64_t i = 0; i < sequence.queries; ++i) {
    const std::int64_t seen = std::clamp<std::int64_t>(i + behind, 0, keys);
    std::int64_t first = 0, end = seen;
    if (kind == 1) first = std::max<std::int64_t>(seen - window, 0);
    if (kind == 2) first = std::max<std::int64_t>(seen - 1, 0) / document * document;
    if (kind == 3) {
      first = between(random, 0, keys);
      end = random() % 8 == 0 ? first : between(random, first, keys);
    }
    ranges.push_back({first, end});
  }
  return ranges;
}

// In float64, and by how much a kernel may miss it. Scores are float32; a weight is an exponential
// of float32, rounded to the type of the products, but for the largest, which is a power of 2 and
// stays so. Sums of weights and of products are float32 again; of e4m3 the tensor core adds up 32
// products at a time, of whose sum it keeps 13 bits of fraction.
class Reference {
 public:
  Reference(const Case& of, const HostProblem& given, const AttentionRounding& rounding)
      : problem_(of.problem.as<Problem>()),
        q_(given.tensor(Family::q)),
        k_(given.tensor(Family::k)),
        v_(given.tensor(problem_.values_in_keys != 0 ? Family::k : Family::v)),
        value_columns_(Family::value_size(problem_)),
        sinks_(given.tensor(Family::sinks)),
        scales_{&given.tensor(Family::q_scales), &given.tensor(Family::k_scales),
                &given.tensor(problem_.values_in_keys != 0 ? Family::k_scales : Family::v_scales)},
        scale_(Family::scale(problem_)),
        has_exact_scores_(of.fill != Fill::Normal),
        type_(rounding.products),
        summed_keys_(rounding.summed_keys),
        half_step_(type_ == ElementType::Fp16   ? 0x1p-11
                   : type_ == ElementType::E4m3 ? 0x1p-4
                                                : 0x1p-8),
        // Weights of e4m3 are up to 2^8.
        smallest_(type_ == ElementType::Fp16   ? 0x1p-25
                  : type_ == ElementType::E4m3 ? 0x1p-18
                                               : 0x1p-126) {}

  // A query sees keys from `first` to `end` - 1 of the sequence: `output` gets a row, `log_sum` one
  // value.
  void attend(Expected* output, Expected& log_sum, std::int64_t head, std::int64_t query,
              const Sequence& sequence, std::int64_t first, std::int64_t end) const {
    const std::int64_t key_head = head / (problem_.heads / problem_.key_heads);
    const double sink =
        sinks_.exists() ? sinks_.at(0, 0, head) : -std::numeric_limits<double>::infinity();
    const std::vector<Score> scores = scores_of(head, query, key_head, sequence, first, end);
    if (scores.empty()) {
      log_sum = {sink, std::isinf(sink) ? 0 : 8 * ulp * (1 + std::abs(sink))};
      return;  // zeros
    }
    const auto largest = static_cast<std::size_t>(
        std::max_element(scores.begin(), scores.end(),
                         [](const Score& a, const Score& b) { return a.value < b.value; }) -
        scores.begin());
    const Score& top = scores[largest];
    const double highest = std::max(top.value, sink);  // a sink may be far above every score
    std::vector<double> weights(scores.size()), errors(scores.size());
    double sum = 0, sum_error = 0;
    bool is_tied = false;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      const double below = top.value - scores[j].value;
      const double slack = scores[j].error + top.error;
      if (j != largest && slack > 0 && below <= slack) is_tied = true;
      sum += weights[j] = std::exp(scores[j].value - highest);
      errors[j] = 8 * ulp + (std::abs(top.value) + std::abs(scores[j].value)) * ulp;
      if (below > 0) errors[j] += std::expm1(slack);
      sum_error += weights[j] * errors[j];
      if (below > 0) errors[j] += half_step_;
    }
    // Another may be the largest in float32.
    if (is_tied) errors[largest] += half_step_;
    const double weight_of_sink = std::exp(sink - highest);
    if (weight_of_sink > 0) {
      sum_error += weight_of_sink * (top.error + (8 + std::abs(sink) + std::abs(top.value)) * ulp);
    }
    sum += weight_of_sink;
    // Sums of float32, and corrections, at most one for 16 keys.
    const double summing = static_cast<double>(scores.size()) * ulp + 8 * ulp;
    sum_error = sum_error / sum + summing;
    // No sum of products, 32 at a time, is larger than all of them together; once more for what
    // rounded weights and lost digits add. Products with keys that the row does not see are zeros,
    // which lose nothing.
    const std::int64_t seen = std::max<std::int64_t>(end - first + 62, 128);
    const auto sums = static_cast<double>(std::min(summed_keys_, seen) / 32 + 1);
    const double truncating = is_truncated() ? sums * lost_of_32 : 0;
    for (std::int64_t c = 0; c < value_columns_; ++c) {
      double value = 0, error = 0, magnitude = 0;
      for (std::size_t j = 0; j < scores.size(); ++j) {
        const auto [matrix, row] =
            sequence.place(problem_, key_head, first + static_cast<std::int64_t>(j));
        const double number = v_.at(matrix, row, c) * scale_of(*scales_[2], key_head);
        const double term = weights[j] / sum * number;
        value += term;
        magnitude += std::abs(term);
        error += std::abs(term) * errors[j];
        // Small weights lose digits, the smallest all of them.
        error += std::min(smallest_, weights[j]) * std::abs(number);
      }
      output[c] = {value, error + magnitude * (sum_error + summing + truncating)};
    }
    log_sum = {highest + std::log(sum), sum_error + top.error + 8 * ulp * (1 + std::abs(highest))};
  }

 private:
  static constexpr double ulp = 0x1p-23;  // float32's
  // What the sum of 32 products, of another sum and of the result's own last digit may lose,
  // relative to the largest of them.
  static constexpr double lost_of_32 = 34 * 0x1p-13;
  bool is_truncated() const { return type_ == ElementType::E4m3 && !has_exact_scores_; }
  struct Score {
    double value, error;
  };

  static double scale_of(const HostMatrix& scales, std::int64_t key_head) {
    return scales.exists() ? scales.at(0, 0, key_head) : 1.0;
  }

  std::vector<Score> scores_of(std::int64_t head, std::int64_t query, std::int64_t key_head,
                               const Sequence& sequence, std::int64_t first,
                               std::int64_t end) const {
    std::vector<Score> scores;
    const double scale = scale_ * scale_of(*scales_[0], key_head) * scale_of(*scales_[1], key_head);
    for (std::int64_t j = first; j < end; ++j) {
      const auto [matrix, row] = sequence.place(problem_, key_head, j);
      double score = 0, magnitude = 0, largest = 0, lost = 0;
      for (std::int64_t c = 0; c < q_.columns; ++c) {
        const double term = q_.at(head, query, c) * k_.at(matrix, row, c);
        score += term;
        magnitude += std::abs(term);
        largest = std::max({largest, std::abs(term), std::abs(score)});
        if (c % 32 == 31 || c + 1 == q_.columns) {
          lost += lost_of_32 * (largest + lost);
          largest = 0;
        }
      }
      const double steps = has_exact_scores_ ? 0 : static_cast<double>(q_.columns);
      Score made = {score * scale, scale * (magnitude * steps * ulp + (is_truncated() ? lost : 0))};
      if (const double cap = problem_.softcap; cap > 0) {
        // The argument, the exponential, 1 plus that and its inverse are each rounded.
        made.error += cap * 8 * ulp + 4 * std::abs(made.value) * ulp;
        made.value = cap * std::tanh(made.value / cap);
      }
      scores.push_back(made);
    }
    return scores;
  }

  const Problem& problem_;
  const HostMatrix &q_, &k_, &v_;
  std::int64_t value_columns_;
  const HostMatrix& sinks_;
  const HostMatrix* scales_[3];  // queries', keys' and values'
  double scale_;
  bool has_exact_scores_;  // integers that are added up without an error
  ElementType type_;       // what is multiplied
  std::int64_t summed_keys_;
  double half_step_;  // half a step between its elements, to which weights are rounded
  double smallest_;   // by what a weight is missed that is no normal number there
};

class AttentionAnswer : public Answer {
 public:
  AttentionAnswer(const Case& of, const HostProblem& given, const AttentionRounding& rounding) {
    const Problem& problem = of.problem.as<Problem>();
    const HostMatrix& q = given.tensor(Family::q);
    const std::int64_t columns = Family::value_size(problem);
    output_.resize(static_cast<std::size_t>(problem.heads * q.rows * columns));
    log_sums_.resize(static_cast<std::size_t>(problem.heads * q.rows));
    const Reference reference(of, given, rounding);
    for (const Sequence& sequence : sequences_of(of)) {
      const std::int64_t count = sequence.queries * problem.heads;
      const double work = static_cast<double>(count) * static_cast<double>(sequence.keys) *
                          static_cast<double>(q.columns + columns);
      in_parallel(count, 10 * work, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t head = i / sequence.queries, query = i % sequence.queries;
          const std::int64_t row = sequence.query_begin + query;
          const auto at = static_cast<std::size_t>(head * q.rows + row);
          reference.attend(output_.data() + at * static_cast<std::size_t>(columns), log_sums_[at],
                           head, row, sequence, sequence.first(query, problem),
                           sequence.end(query, problem));
        }
      });
    }
  }

  Comparison compare(const HostProblem& ran) const override {
    Comparison result;
    compare_within(result, "the output", ran.tensor(Family::output), output_);
    compare_within(result, "the log sums", ran.tensor(Family::log_sums), log_sums_);
    return result;
  }

 private:
  std::vector<Expected> output_;    // (head,token,column)
  std::vector<Expected> log_sums_;  // (head,token)
};

}  // namespace

std::vector<AttentionSequence> sequences_of(const Case& of) {
  const Problem& problem = of.problem.as<Problem>();
  if (Family::is_paged(problem)) return paged_sequences_of(of);
  const bool is_ragged = !of.lists[Family::query_lengths].empty();
  std::vector<Sequence> all;
  Sequence next = {0, problem.queries, 0, problem.keys};
  for (std::int64_t i = 0; i < problem.sequences; ++i) {
    if (is_ragged) {
      next.queries = of.lists[Family::query_lengths][static_cast<std::size_t>(i)];
      next.keys = of.lists[Family::key_lengths][static_cast<std::size_t>(i)];
    }
    if (Family::has_ranges(problem)) {
      next.ranges = ranges_of(next, of.seed + static_cast<std::uint64_t>(i));
    }
    all.push_back(next);
    next.query_begin += next.queries;
    next.key_begin += next.keys;
  }
  return all;
}

std::shared_ptr<const Answer> attention_answer(const Case& of, const HostProblem& given,
                                               const AttentionRounding& rounding) {
  return std::make_shared<AttentionAnswer>(of, given, rounding);
}

}  // namespace tw
