// A problem to measure: from the words of a shape to a problem of the C interface without memory.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/bench/harness/result.h"
#include "src/verify/case.h"

namespace tw::bench {

// What is asked for beside a shape.
struct CaseRequest {
  std::string type;              // the operands'; empty: the suite's, or the family's usual one
  std::int64_t pitch_align = 1;  // lines begin at multiples of so many elements
  std::uint64_t seed = 1;        // draws the sizes of groups
  bool row_major_scales = false;
  bool column_scales = false;
  bool b_is_constant = false;
};

// D = relu(sum + bias + residual), of which some may be missing.
struct EpilogueNodes {
  bool bias = false;
  bool residual = false;
  bool relu = false;
  bool any() const { return bias || residual || relu; }
};

struct ShapeForm;

struct MeasuredCase {
  const ShapeForm* form = nullptr;  // null: it was stated otherwise
  const Description* described = nullptr;
  std::vector<std::int64_t> numbers;   // the form's
  AnyProblem problem = AnyProblem(0);  // an address that is not null: there will be memory
  std::vector<std::int32_t> integers;  // what a tensor of integers holds
  std::shared_ptr<HostProblem> data;   // what all tensors hold, where they are not normal
  // Which tensors are scales of blocks of 128, for each row of A and for each 128 rows of B.
  std::optional<std::pair<unsigned, unsigned>> block_scales;
  Shape shape;
  std::int64_t compared_to = 0;  // also at numbers rounded up to multiples of this; 0: not

  const Description& description() const { return *described; }
};

// How shapes of a family are written, and what they mean.
struct ShapeForm {
  struct Number {
    const char* name;    // in suites
    std::int64_t usual;  // value of a number that is left out
    std::int64_t least;
  };
  const Description* description;
  std::span<const char* const> names;  // MxNxK: numbers that a shape has, from 1 on,
  std::span<const Number> others;      // numbers that may follow: ,STRIDE,PAD
  std::span<const ElementType> types;  // that are measured; the first is usual
  std::span<const char* const> usual;  // shapes to measure where none is asked for
  const char* suites;                  // the family whose suites it has
  const char* peer;                    // that it is measured beside
  // Fills the C problem from the shape, and those shape fields complete() cannot derive.
  void (*state)(MeasuredCase& made, ElementType type, const CaseRequest& request);
  bool is_tuned = false;  // ./tw tune measures its calls
  // Without a shape or a suite ./tw bench takes the options of ./tw run, and measures no peer.
  bool also_described = false;

  std::string text() const;  // "NxHxWxCxKxRxS[,STRIDE[,PAD]]"
};

// Null where a family has no shapes.
const ShapeForm* form_of(const std::string& family);

// Sets what follows from the problem; refused where that does not keep its description.
Status complete(MeasuredCase& made);
// The numbers are in their ranges; refused likewise.
Status make_case(MeasuredCase& made, const ShapeForm& form, std::vector<std::int64_t> numbers,
                 ElementType type, const CaseRequest& request);
// "16x4096x128", of the form.
Status read_shape(std::vector<std::int64_t>& numbers, const ShapeForm& form,
                  const std::string& text);
// What read_shape reads; numbers that may be left out stand up to the last that is not usual.
std::string shape_words(const MeasuredCase& of);
// A type that the form has; empty: the usual one.
Status read_type(ElementType& type, const ShapeForm& form, const std::string& name);
// With all numbers rounded up, lines one behind the other.
MeasuredCase rounded_up(const MeasuredCase& of);

struct Suite {
  std::string file;
  std::string type;  // the word in the file
  std::int64_t pitch_align = 1;
  std::int64_t compared_to = 0;
  std::vector<std::vector<std::int64_t>> shapes;
};
// `name` is a path, or `bf16` for bench/suites/FAMILY-bf16.json.
Status read_suite(Suite& suite, const ShapeForm& form, const std::string& name);

// A suite and shapes of the command line, or the usual ones.
Status read_cases(std::vector<MeasuredCase>& cases, std::string& file, const ShapeForm& form,
                  const std::string& suite, const std::vector<std::string>& shapes,
                  CaseRequest request);

// A problem as its initialiser leaves it, but for its size and family.
template <class Family>
typename Family::Problem initial() {
  typename Family::Problem problem = {};
  for (const IntegerField& number : Family::description.numbers) {
    number.set(&problem, number.initial);
  }
  for (const RealField& real : Family::description.reals) real.set(&problem, real.usual);
  if (Family::description.product != nullptr) Family::description.product->initialise(&problem);
  return problem;
}
// A matrix that will have memory.
inline tw_matrix rows_of(std::int64_t pitch, ElementType type) {
  return {some_address(), pitch, 1, 0, static_cast<tw_type>(type)};
}
inline tw_matrix columns_of(std::int64_t pitch, ElementType type) {
  return {some_address(), 1, pitch, 0, static_cast<tw_type>(type)};
}

}  // namespace tw::bench
