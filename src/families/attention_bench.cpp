// Attention of whole sequences: every query and key is there, one behind the other.
#include <fmt/format.h>

#include "src/bench/harness/forms.h"
#include "tilewright/family/attention/family.h"

namespace tw::bench {

namespace {

constexpr const char* numbers[] = {"batch", "heads", "seq", "dim"};
constexpr ShapeForm::Number others[] = {
    {"causal", 0, 0}, {"kv_heads", 0, 0}, {"keys", 0, 0}, {"sums_join_every", 0, 0}};
constexpr ElementType types[] = {ElementType::Bf16, ElementType::Fp16, ElementType::E4m3};
constexpr const char* usual[] = {"4x32x4096x128,0,8", "4x32x4096x128,1,8", "4x32x4096x64",
                                 "4x32x4096x64,1", "1x32x16384x128,1,8"};

void state(MeasuredCase& made, ElementType type, const CaseRequest&) {
  const std::vector<std::int64_t>& of = made.numbers;
  auto problem = initial<AttentionFamily>();
  problem.sequences = of[0];
  problem.heads = of[1];
  problem.queries = of[2];
  problem.head_size = of[3];
  problem.causal = of[4] != 0;
  problem.key_heads = of[5] > 0 ? of[5] : of[1];
  problem.keys = of[6] > 0 ? of[6] : of[2];
  problem.sums_join_every = of[7];
  const auto by_token = [&](std::int64_t heads, ElementType of_elements) {
    tw_matrix matrix = rows_of(heads * problem.head_size, of_elements);
    matrix.batch_stride = problem.head_size;
    return matrix;
  };
  problem.q = by_token(problem.heads, type);
  problem.k = problem.v = by_token(problem.key_heads, type);
  problem.output = by_token(problem.heads, type == ElementType::E4m3 ? ElementType::Bf16 : type);
  std::string& text = made.shape.text;
  text = fmt::format("{}x{}/{} x {} x {}", of[0], of[1], problem.key_heads, of[2], of[3]);
  if (problem.keys != problem.queries) text += fmt::format(", {} keys", problem.keys);
  if (problem.causal != 0) text += ", causal";
  if (problem.sums_join_every > 0) text += fmt::format(", sums of {}", problem.sums_join_every);
  // A causal query sees the keys up to its own place, the last one all of them: on average half of
  // the queries fewer. Where queries are more than keys, the first see none, the others half.
  const double queries = double(problem.queries), keys = double(problem.keys);
  const double hidden = problem.causal == 0 ? 0
                        : keys < queries    ? keys - keys * keys / (2 * queries)
                                            : 0.5 * queries;
  made.shape.flops = 4.0 * double(of[0] * of[1]) * queries * (keys - hidden) * double(of[3]);
  made.problem = AnyProblem(problem);
}

}  // namespace

extern const ShapeForm attention_form;
const ShapeForm attention_form = {.description = &AttentionFamily::description,
                                  .names = numbers,
                                  .others = others,
                                  .types = types,
                                  .usual = usual,
                                  .suites = "attention",
                                  .peer = "cudnn_attention",
                                  .state = state,
                                  .also_described = true};

}  // namespace tw::bench
