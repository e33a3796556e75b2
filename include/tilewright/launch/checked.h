// What a described problem must satisfy, wherever it runs: every refusal is a sentence with the
// number and the rule.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "tilewright/base/status.h"
#include "tilewright/launch/description.h"
#include "tilewright/launch/matmul_check.h"

namespace tw {

// A tensor as lines of memory: its rows, or its columns.
struct TensorLines {
  void* data = nullptr;  // null: there is no element
  ElementType type = ElementType::Bf16;
  bool by_rows = true;
  std::int64_t lines = 0, length = 0, pitch = 0;
  std::int64_t batch = 0, batch_pitch = 0;

  // From the first element to the last, in bytes.
  std::size_t bytes() const {
    const std::int64_t span = (batch - 1) * batch_pitch + (lines - 1) * pitch + length;
    return (static_cast<std::size_t>(span) * bits_in(type) + 7) / 8;
  }
};

// A problem that keeps its description: only check() makes one, and who takes one asks no more.
class Checked {
 public:
  static constexpr std::size_t most_tensors = 16;

  template <class Problem>
  const Problem& as() const {
    return *static_cast<const Problem*>(problem_);
  }
  const void* problem() const { return problem_; }
  const Description& description() const { return *description_; }
  // In the order of the description.
  const TensorLines& tensor(std::size_t index) const { return tensors_[index]; }
  // Whether an extent of 1 lets the tensor's memory be read along its other side, too; then so.
  bool has_other_side(std::size_t index) const;
  TensorLines other_side(std::size_t index) const;
  // Nothing is written.
  bool is_empty() const { return is_empty_; }
  // The same problem with other addresses, each aligned as the one before, or null like it: what
  // has been checked still holds.
  void move_to(const void* problem);
  // What is multiplied, in a family that multiplies, as kernels see it: B is n by k.
  MatmulProblem product() const {
    const ProductField& field = *description_->product;
    const TensorExtents sums = field.sums(problem_);
    const TensorLines &a = tensors_[field.a], &b = tensors_[field.b], &d = tensors_[field.d];
    MatmulProblem product;
    product.m = sums.rows;
    product.n = sums.columns;
    product.k = field.k(problem_);
    product.batch = sums.batch;
    product.a = {a.data, a.pitch, a.batch_pitch, a.type, a.by_rows ? Major::K : Major::MN};
    product.b = {b.data, b.pitch, b.batch_pitch, b.type, b.by_rows ? Major::MN : Major::K};
    product.d = {d.data, d.pitch, d.batch_pitch, d.type};
    product.epilogue = epilogue_;
    return product;
  }

 private:
  friend Status check(Checked& checked, const Description& description, const void* problem);
  const Description* description_ = nullptr;
  const void* problem_ = nullptr;
  std::array<TensorLines, most_tensors> tensors_ = {};
  EpilogueArguments epilogue_ = {};
  bool is_empty_ = true;
};

namespace detail {

inline std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
  return text;
}
inline std::string has(const TensorField& tensor) {
  return capitalised(tensor.title) + (tensor.one != nullptr ? " have" : " has");
}

inline bool is_present(const TensorField& tensor, const void* problem) {
  return tensor.present == nullptr || tensor.present(problem);
}

inline Status check_number(const IntegerField& number, std::int64_t value) {
  const bool is_free = number.kind == IntegerField::Kind::Flag || number.low == INT64_MIN;
  if (is_free || (value >= number.low && value < number.limit)) return Status::good();
  if (number.kind == IntegerField::Kind::Choice) {
    return Status::refused(sentence("The {} is {}, but a tw_{} is between 0 and {}.", number.name,
                                    value, number.title, number.limit - 1));
  }
  if (number.title != nullptr) {
    return Status::refused(sentence("{}{} = {} must be from {} to {}.", number.title, number.along,
                                    value, number.low, number.limit - 1));
  }
  const std::string limit =
      number.limit == extent_limit ? "2^31 - 256" : std::to_string(number.limit);
  return Status::refused(
      sentence("{} = {} must be at least {} and below {}.", number.name, value, number.low, limit));
}

inline Status check_known_type(const TensorField& tensor, tw_type type) {
  constexpr auto last = static_cast<unsigned>(ElementType::E3m2);
  static_assert(last == TW_E3M2);
  if (static_cast<unsigned>(type) <= last) return Status::good();
  return Status::refused(sentence("The type of {} is {}, but a tw_type is between 0 and {}.",
                                  tensor.title, static_cast<int>(type), last));
}

inline Status check_type(const TensorField& tensor, tw_type given) {
  const auto type = static_cast<ElementType>(given);
  if (tensor.types.has(type)) return Status::good();
  std::string names;
  unsigned left = 0;
  for (std::uint32_t set = tensor.types.set; set != 0; set &= set - 1) ++left;
  for (unsigned i = 0; i < 32; ++i) {
    if ((tensor.types.set >> i & 1) == 0) continue;
    names += name_of(static_cast<ElementType>(i));
    if (--left > 0) names += left == 1 ? " or " : ", ";
  }
  return Status::refused(
      sentence("{} type {}, but must be {}.", has(tensor), name_of(type), names));
}

// Which side is contiguous, as the strides say it, and the first where both are.
inline bool lies_by_rows(const TensorField& tensor, const tw_matrix& given,
                         const TensorExtents& extents) {
  const bool by_rows = extents.columns <= 1 || given.column_stride == 1;
  const bool by_columns = extents.rows <= 1 || given.row_stride == 1;
  return tensor.is_usually_by_rows() ? by_rows : by_rows && !by_columns;
}

// Its memory as rows, or as columns.
inline void take_lines(TensorLines& lines, const tw_matrix& given, const TensorExtents& extents,
                       bool by_rows) {
  lines.data = given.data;
  lines.by_rows = by_rows;
  lines.lines = by_rows ? extents.rows : extents.columns;
  lines.length = by_rows ? extents.columns : extents.rows;
  lines.batch = extents.batch;
  lines.batch_pitch = extents.batch > 1 ? given.batch_stride : 0;
  lines.pitch = by_rows ? given.row_stride : given.column_stride;
  // The pitch of a single line is free: with the batch's, a batch of rows is one matrix; otherwise
  // it spoils no alignment.
  if (lines.lines <= 1) {
    lines.pitch = extents.batch > 1 ? lines.batch_pitch : pitch_of_one_line(lines.length);
  }
}

// How the tensor lies in memory, as far as lines can say it.
inline Status lay(TensorLines& lines, const TensorField& tensor, const tw_matrix& given,
                  const TensorExtents& extents) {
  const bool by_rows = lies_by_rows(tensor, given, extents);
  take_lines(lines, given, extents, by_rows);
  if (tensor.dense) lines.pitch = lines.length;
  if (!by_rows && !tensor.has_either_side()) {
    return Status::refused(sentence("The {} of {} is {}, but must be 1: rows are contiguous.",
                                    tensor.column_stride, tensor.title, given.column_stride));
  }
  if (!by_rows && extents.rows > 1 && given.row_stride != 1) {
    return Status::refused(
        sentence("{} a row_stride of {} and a {} of {}, but one of them must be 1.", has(tensor),
                 given.row_stride, tensor.column_stride, given.column_stride));
  }
  const bool is_letter = tensor.title[1] == 0;  // A, B or D
  return check_span(is_letter ? "" : "The memory of ", tensor.title, lines.lines, lines.pitch,
                    lines.batch, lines.batch_pitch);
}

inline Status check_reach(const TensorField& tensor, const TensorLines& lines) {
  const double reach = static_cast<double>(lines.lines) * static_cast<double>(lines.pitch) +
                       static_cast<double>(lines.batch) * static_cast<double>(lines.batch_pitch);
  if (tensor.reach == 0 || reach < static_cast<double>(tensor.reach)) return Status::good();
  return Status::refused(sentence(
      "{}, with a pitch of {} elements and {} from matrix to matrix, must reach over less than {} "
      "elements.",
      capitalised(tensor.title), lines.pitch, lines.batch_pitch, tensor.reach));
}

// Elements that share bytes: a line begins at a byte.
inline Status check_packing(const TensorField& tensor, const TensorLines& lines) {
  const unsigned bits = bits_in(lines.type);
  const auto check_one = [&](const char* what, std::int64_t pitch) {
    if (pitch % 8 * bits % 8 == 0) return Status::good();
    return Status::refused(
        sentence("The {} of {} is {} elements of {} bits, but lines must begin "
                 "at whole bytes.",
                 what, tensor.title, pitch, bits));
  };
  if (lines.lines > 1) {
    if (Status status = check_one("pitch", lines.pitch); !status.is_good()) return status;
  }
  return check_one("batch pitch", lines.batch_pitch);
}

inline Status check_lines(const TensorField& tensor, const TensorLines& lines) {
  if (Status status = check_packing(tensor, lines); !status.is_good()) return status;
  if (Status status = check_reach(tensor, lines); !status.is_good()) return status;
  Status status = check_matrix(tensor.title, lines.data, lines.lines, lines.length, lines.pitch,
                               lines.batch, lines.batch_pitch, lines.type);
  if (!status.is_good() || tensor.flow == TensorField::Flow::Read) return status;
  // Lines of all matrices may lie side by side, as those of one matrix that has all of them.
  const bool side_by_side =
      lines.batch_pitch >= lines.length &&
      static_cast<double>(lines.pitch) >=
          static_cast<double>(lines.batch - 1) * static_cast<double>(lines.batch_pitch) +
              static_cast<double>(lines.length);
  if (side_by_side) return status;
  return check_output(tensor.title, lines.lines, lines.pitch, lines.length, lines.batch,
                      lines.batch_pitch);
}

}  // namespace detail

inline bool Checked::has_other_side(std::size_t index) const {
  const TensorField& tensor = description_->tensors[index];
  if (!tensor.has_either_side() || tensors_[index].data == nullptr) return false;
  const tw_matrix given = tensor.get(problem_);
  const TensorExtents extents = tensor.extents(problem_);
  return (extents.columns == 1 || given.column_stride == 1) &&
         (extents.rows == 1 || given.row_stride == 1);
}

inline TensorLines Checked::other_side(std::size_t index) const {
  const TensorField& tensor = description_->tensors[index];
  TensorLines lines = tensors_[index];
  detail::take_lines(lines, tensor.get(problem_), tensor.extents(problem_), !lines.by_rows);
  return lines;
}

inline void Checked::move_to(const void* problem) {
  problem_ = problem;
  const std::span<const TensorField> tensors = description_->tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors_[i].data != nullptr) tensors_[i].data = tensors[i].get(problem).data;
  }
  if (description_->product == nullptr) return;
  const tw_epilogue& given = description_->product->epilogue(problem);
  if (epilogue_.source != nullptr) epilogue_.source = given.source.data;
  epilogue_.auxiliary = given.auxiliary.data;
  if (epilogue_.column_bias != nullptr) epilogue_.column_bias = given.column_bias;
  if (epilogue_.row_bias != nullptr) epilogue_.row_bias = given.row_bias;
  epilogue_.column_scale = given.column_scale;
  epilogue_.row_scale = given.row_scale;
  epilogue_.amax = reinterpret_cast<std::uint32_t*>(given.amax);
}

// Numbers, rules and types: all but strides and addresses.
inline Status check_stated(const Description& description, const void* problem) {
  const auto each_type = [&](const auto& check_one) {
    for (const TensorField& tensor : description.tensors) {
      if (!detail::is_present(tensor, problem)) continue;
      Status status = check_one(tensor, tensor.get(problem).type);
      if (!status.is_good()) return status;
    }
    return Status::good();
  };
  if (Status status = each_type(detail::check_known_type); !status.is_good()) return status;
  for (const IntegerField& number : description.numbers) {
    Status status = detail::check_number(number, number.get(problem));
    if (!status.is_good()) return status;
  }
  for (const Rule& rule : description.rules) {
    if (!rule.holds(problem)) return Status::refused(rule.says(problem));
  }
  return each_type(detail::check_type);
}

inline Status check(Checked& checked, const Description& description, const void* problem) {
  checked.description_ = nullptr;
  if (Status status = check_stated(description, problem); !status.is_good()) return status;
  checked.description_ = &description;
  checked.problem_ = problem;
  checked.is_empty_ = true;
  const std::span<const TensorField> tensors = description.tensors;
  const auto has_elements = [&](const TensorField& tensor) {
    if (!detail::is_present(tensor, problem)) return false;
    const TensorExtents extents = tensor.extents(problem);
    return std::min({extents.batch, extents.rows, extents.columns}) > 0;
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool is_output = tensors[i].flow == TensorField::Flow::Written;
    if (is_output && has_elements(tensors[i])) checked.is_empty_ = false;
    checked.tensors_[i] = {};
    checked.tensors_[i].type = static_cast<ElementType>(tensors[i].get(problem).type);
    checked.tensors_[i].by_rows = tensors[i].is_usually_by_rows();
  }
  if (description.product != nullptr) {
    const TensorExtents sums = description.product->sums(problem);
    Status status = take_epilogue(checked.epilogue_, description.product->epilogue(problem),
                                  sums.rows, sums.columns, sums.batch);
    if (!status.is_good()) return status;
  }
  if (checked.is_empty_) return Status::good();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!has_elements(tensors[i])) continue;
    Status status = detail::lay(checked.tensors_[i], tensors[i], tensors[i].get(problem),
                                tensors[i].extents(problem));
    if (!status.is_good()) return status;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!has_elements(tensors[i])) continue;
    Status status = detail::check_lines(tensors[i], checked.tensors_[i]);
    if (!status.is_good()) return status;
  }
  if (description.product == nullptr) return Status::good();
  const MatmulProblem product = checked.product();
  return detail::check_epilogue(product, product.epilogue.gated ? product.n / 2 : product.n);
}

}  // namespace tw
