// From the C interface's problem to the kernels' problem. What is wrong with it is thrown.
#pragma once

#include <optional>

#include "tilewright.h"
#include "tilewright/host/matmul_problem.h"

namespace tw::library {

// Where an extent of an operand is 1, its memory reads both K-major and MN-major; kernels that
// take it one way may not take it the other.
struct ConvertedProblem {
  MatmulProblem problem;
  std::optional<MatmulOperand> other_a;
  std::optional<MatmulOperand> other_b;
};

ConvertedProblem convert(const tw_matmul_problem* problem);
// For kernels that read both along k.
MatmulProblem along_k(const ConvertedProblem& converted);

// `rows` (m or n) by k.
struct OperandStrides {
  std::int64_t rows, k, batch, row_stride, k_stride;
};
// The better aligned form first.
void take_operand(MatmulOperand& usual, std::optional<MatmulOperand>& other, const char* name,
                  const tw_matrix& given, const OperandStrides& strides);

// `initialiser` is the function that sets a struct's size.
void check_size(const char* name, const void* given, std::size_t size, std::size_t expected,
                const char* initialiser);
template <class Struct>
void check_struct(const char* name, const Struct* given, const char* initialiser) {
  check_size(name, given, given == nullptr ? 0 : given->size, sizeof(Struct), initialiser);
}

ElementType type_of(const char* name, tw_type type);

// Offsets up to here are computed without overflow, whatever the element.
void check_span(const char* name, std::int64_t lines, std::int64_t pitch, std::int64_t batch,
                std::int64_t batch_pitch);

// Of an output of m by n.
EpilogueArguments epilogue_of(const tw_epilogue& given, std::int64_t m, std::int64_t n,
                              std::int64_t batch);

// Null options mean the usual ones.
tw_options usual_options();
tw_options checked_options(const tw_options* options);

}  // namespace tw::library
