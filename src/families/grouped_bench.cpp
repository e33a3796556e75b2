// Products in groups of mixed sizes, from a seed. bench/grouped_torch.py has torch's.
#include <algorithm>
#include <numeric>

#include "src/bench/harness/forms.h"
#include "src/families/grouped.h"
#include "tilewright/family/grouped/family.h"

namespace tw::bench {

namespace {

constexpr const char* numbers[] = {"groups", "rows", "n", "k"};
constexpr ElementType types[] = {ElementType::Bf16};
// Experts of two kinds of models, prompts and decode.
constexpr const char* usual[] = {"8x8192x4096x4096",   "8x8192x14336x4096",  "8x16384x4096x14336",
                                 "8x256x4096x4096",    "64x16384x4096x2048", "64x16384x7168x2048",
                                 "64x32768x4096x7168", "64x512x4096x2048"};

void state(MeasuredCase& made, ElementType type, const CaseRequest& request) {
  const std::int64_t groups = made.numbers[0], rows = made.numbers[1], n = made.numbers[2],
                     k = made.numbers[3];
  auto problem = initial<GroupedFamily>();
  tw_matmul_problem& matmul = problem.matmul;
  matmul.m = rows;
  matmul.n = n;
  matmul.k = k;
  matmul.batch = groups;
  matmul.a = rows_of(k, type);
  matmul.b = columns_of(k, type);
  matmul.b.batch_stride = n * k;
  matmul.d = rows_of(n, type);
  problem.rows = static_cast<const std::int32_t*>(some_address());
  made.problem = AnyProblem(problem);
  made.integers = group_sizes(groups, rows, request.seed);
  // A group without rows reads nothing.
  const auto busy = static_cast<double>(groups) -
                    static_cast<double>(std::count(made.integers.begin(), made.integers.end(), 0));
  made.shape.bytes = 2.0 * (double(k) * (double(rows) + busy * double(n)) + double(rows * n));
  made.shape.flops = 2.0 * double(rows) * double(n) * double(k);
  made.shape.numbers = {{"seed", static_cast<std::int64_t>(request.seed)}};
  std::partial_sum(made.integers.begin(), made.integers.end(), made.integers.begin());
}

}  // namespace

extern const ShapeForm grouped_form;
const ShapeForm grouped_form = {
    &GroupedFamily::description, numbers, {}, types, usual, "grouped", "dense", state};

}  // namespace tw::bench
