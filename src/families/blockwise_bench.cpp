// FP8 with scales of blocks, all of them one: A's, one for each row, column by column as the peer
// wants them, or for us row by row; B's row by row, one for each 128 rows, lines a multiple of
// four.
#include "src/bench/harness/forms.h"
#include "tilewright/family/blockwise/family.h"

namespace tw::bench {

namespace {

constexpr const char* numbers[] = {"m", "n", "k"};
constexpr ElementType types[] = {ElementType::E4m3};

void state(MeasuredCase& made, ElementType type, const CaseRequest& request) {
  const auto blocks = [](std::int64_t extent, std::int64_t block) {
    return (extent + block - 1) / block;
  };
  auto problem = initial<BlockwiseFamily>();
  problem.matmul = plain_product(made, type, request);
  const auto& [m, n, k] = std::tie(problem.matmul.m, problem.matmul.n, problem.matmul.k);
  const std::int64_t k_blocks = blocks(k, 128), column = 4 * blocks(m, 4);
  problem.a_scales = {some_address(), m, k_blocks, 1, column, 0, TW_FP32};
  if (request.row_major_scales) {
    problem.a_scales.row_stride = k_blocks;
    problem.a_scales.k_stride = 1;
  }
  problem.b_scales = {some_address(), blocks(n, 128), k_blocks, 4 * blocks(k_blocks, 4), 1, 0,
                      TW_FP32};
  made.problem = AnyProblem(problem);
  made.block_scales = {BlockwiseFamily::a_scales, BlockwiseFamily::b_scales};
}

}  // namespace

extern const ShapeForm blockwise_form;
const ShapeForm blockwise_form = {
    &BlockwiseFamily::description, numbers, {}, types, {}, "matmul", "cublaslt", state, true};

}  // namespace tw::bench
