#include "src/library/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/library/failure.h"
#include "tilewright/host/epilogue_problem.h"
#include "tilewright/host/matmul_check.h"

namespace tw::library {

namespace {

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Failure{TW_INVALID, fmt::format(format, std::forward<Arguments>(arguments)...)};
}

void must(const Status& status) {
  if (!status.is_good()) throw Failure{TW_INVALID, status.sentence()};
}

}  // namespace

ElementType type_of(const char* name, tw_type type) {
  static_assert(TW_S32 == static_cast<tw_type>(ElementType::S32));
  ElementType known = {};
  must(detail::take_type(known, name, type));
  return known;
}

void check_size(const char* name, const void* given, std::size_t size, std::size_t expected,
                const char* initialiser) {
  if (given == nullptr) refuse("The {} is null.", name);
  if (size != expected) {
    refuse("The size of the {} is {}, but this library's has {} bytes: {} sets it.", name, size,
           expected, initialiser);
  }
}

void check_span(const char* name, std::int64_t lines, std::int64_t pitch, std::int64_t batch,
                std::int64_t batch_pitch) {
  must(detail::check_span("", name, lines, pitch, batch, batch_pitch));
}

namespace {

MatmulOperand operand_of(const tw_matrix& given, const OperandStrides& strides, Major major,
                         ElementType type) {
  const bool by_k = major == Major::K;
  const std::int64_t lines = by_k ? strides.rows : strides.k;
  const std::int64_t length = by_k ? strides.k : strides.rows;
  return {given.data,
          lines > 1 ? (by_k ? strides.row_stride : strides.k_stride)
                    : detail::pitch_of_one_line(length),
          strides.batch > 1 ? given.batch_stride : 0, type, major};
}

}  // namespace

void take_operand(MatmulOperand& usual, std::optional<MatmulOperand>& other, const char* name,
                  const tw_matrix& given, const OperandStrides& strides) {
  const ElementType type = type_of(name, given.type);
  const bool empty = strides.rows < 1 || strides.k < 1;
  const bool by_k = empty || strides.k == 1 || strides.k_stride == 1;
  const bool by_rows = empty || strides.rows == 1 || strides.row_stride == 1;
  if (!by_k && !by_rows) {
    refuse("{} has a row_stride of {} and a column_stride of {}, but one of them must be 1.", name,
           given.row_stride, given.column_stride);
  }
  usual = operand_of(given, strides, by_k ? Major::K : Major::MN, type);
  if (by_k && by_rows) {
    other = operand_of(given, strides, Major::MN, type);
    const auto alignment = [&](const MatmulOperand& operand) {
      return alignment_of(operand.data, operand.pitch, strides.batch, operand.batch_pitch, type);
    };
    if (alignment(*other) > alignment(usual)) std::swap(usual, *other);
  }
  const std::int64_t lines = usual.major == Major::K ? strides.rows : strides.k;
  check_span(name, lines, usual.pitch, strides.batch, usual.batch_pitch);
}

EpilogueArguments epilogue_of(const tw_epilogue& given, std::int64_t m, std::int64_t n,
                              std::int64_t batch) {
  EpilogueArguments epilogue;
  must(take_epilogue(epilogue, given, m, n, batch));
  return epilogue;
}

ConvertedProblem convert(const tw_matmul_problem* given) {
  check_struct("problem", given, "tw_matmul_init");
  const std::int64_t m = given->m, n = given->n, k = given->k, batch = given->batch;
  ConvertedProblem converted;
  MatmulProblem& problem = converted.problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.batch = batch;
  // Extents first: spans and pitches are computed from them.
  must(detail::check_extents(problem));
  take_operand(problem.a, converted.other_a, "A", given->a,
               {m, k, batch, given->a.row_stride, given->a.column_stride});
  // The kernels' B is n by k.
  take_operand(problem.b, converted.other_b, "B", given->b,
               {n, k, batch, given->b.column_stride, given->b.row_stride});
  const std::int64_t columns = given->epilogue.gated != 0 ? n / 2 : n;
  problem.d = {given->d.data, 0, batch > 1 ? given->d.batch_stride : 0, {}};
  must(detail::take_rows(problem.d.pitch, "D", given->d, m, columns, batch));
  problem.d.type = type_of("D", given->d.type);
  problem.epilogue = epilogue_of(given->epilogue, m, n, batch);
  must(check(problem));
  return converted;
}

MatmulProblem along_k(const ConvertedProblem& converted) {
  MatmulProblem problem = converted.problem;
  if (problem.a.major == Major::MN && converted.other_a) problem.a = *converted.other_a;
  if (problem.b.major == Major::MN && converted.other_b) problem.b = *converted.other_b;
  return problem;
}

tw_options usual_options() {
  tw_options options = {};
  options.size = sizeof options;
  options.fast_accumulation = 1;
  options.workspace_limit = std::size_t{64} << 20;
  return options;
}

tw_options checked_options(const tw_options* options) {
  if (options == nullptr) return usual_options();
  check_struct("options", options, "tw_matmul_init");
  return *options;
}

}  // namespace tw::library
