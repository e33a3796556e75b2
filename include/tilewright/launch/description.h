// The words in which a family is described, once: the numbers and tensors of its problem, a struct
// of the C interface, and the rules that they keep. Checks, keys of plans, memory, options, lines
// of ./tw run, smaller problems and C calls follow from it, the same way for every family.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/base/sentence.h"
#include "tilewright/number/element_type.h"
#include "tilewright/types.h"

namespace tw {

// Products of counts that a caller gives: what 64 bits do not hold is refused, and never overflows.
// The largest number where the product does not fit.
template <class... Counts>
constexpr std::int64_t saturated_product(std::int64_t first, Counts... others) {
  std::int64_t product = first;
  const bool fits = (!__builtin_mul_overflow(product, others, &product) && ...);
  return fits ? product : std::numeric_limits<std::int64_t>::max();
}

// Most extents stay below this: kernels count a dimension's elements, and a tile beyond, in int.
inline constexpr std::int64_t extent_limit = (std::int64_t{1} << 31) - 256;

// An integer of a problem, and its option.
struct IntegerField {
  enum class Kind {
    Extent,  // at least `low` and below `limit`
    Flag,    // 0 or anything else; an option without a value
    Choice,  // an enum; the option takes one of `words`
    Derived  // an extent that follows from others, or from a list: no option
  };
  const char* name;     // the field's; the option is --name with dashes
  const char* meaning;  // the option's
  Kind kind;
  std::int64_t usual;    // where the option is left out
  std::int64_t initial;  // what the initialiser of the C interface writes
  std::int64_t low;
  std::int64_t limit;
  std::int64_t (*get)(const void* problem);
  void (*set)(void* problem, std::int64_t value);
  const char* title = nullptr;  // in sentences that name the first and the last that it may be,
  const char* along = "";       // what follows the title there: " along h"; a Choice's type
  std::span<const char* const> words = {};  // a Choice's values
};

// A number that is no integer: of softmax, or of an epilogue.
struct RealField {
  const char* name;
  const char* meaning;
  double usual;  // also what the initialiser writes
  double (*get)(const void* problem);
  void (*set)(void* problem, double value);
};

// The types that a tensor may have, and the one that it has where nothing is said.
struct Types {
  template <class... More>
  constexpr Types(ElementType usual, More... more) : usual(usual), set(bit(usual)) {
    ((set |= bit(more)), ...);
  }
  constexpr bool has(ElementType type) const { return (set & bit(type)) != 0; }

  ElementType usual;
  std::uint32_t set;

 private:
  static constexpr std::uint32_t bit(ElementType type) {
    return std::uint32_t{1} << static_cast<unsigned>(type);
  }
};

// `batch` matrices of rows by columns.
struct TensorExtents {
  std::int64_t batch, rows, columns;
};

// A tensor of a problem. Its elements are contiguous along its rows, or along either side, of which
// the first is usual, and taken where an extent of 1 leaves both.
struct TensorField {
  enum class Flow { Read, Written };
  enum class Lines { Rows, RowsOrColumns, ColumnsOrRows };
  const char* name;   // the field's; options are --name-type and, for the lines, --name
  const char* title;  // in sentences: "the source", "the scales"
  const char* one;    // a title for several things as one: "the matrix of scales"; or null
  Flow flow;
  Lines lines;
  Types types;
  TensorExtents (*extents)(const void* problem);
  tw_matrix (*get)(const void* problem);
  void (*set)(void* problem, const tw_matrix& matrix);
  // Null: a problem always has it. Where a case has no memory yet, an address that is not null says
  // that there will be one.
  bool (*present)(const void* problem);
  const char* column_stride = "column_stride";  // what its struct calls it
  std::int64_t reach = 0;  // kernels count its elements below that; 0: with 64 bits
  bool dense = false;      // its struct has no strides: rows lie one behind the other
  bool has_type = true;    // false: the type is another tensor's
  bool optional = false;   // an option of its name says whether a case has it
  bool is_of_b = false;    // where one B serves the whole batch, so may this: cases share both
  bool is_small = false;   // kernels take it at any address, whatever they need of the others
  // Says whether it was complete before the earlier grid began; null: the caller cannot say.
  bool (*constant)(const void* problem) = nullptr;

  constexpr bool has_either_side() const { return lines != Lines::Rows; }
  constexpr bool is_usually_by_rows() const { return lines != Lines::ColumnsOrRows; }
};

// The product that a problem is, and its epilogue.
struct ProductField {
  unsigned a, b, d;                            // the tensors: A is m by k, B is k by n
  TensorExtents (*sums)(const void* problem);  // batch, m and n
  std::int64_t (*k)(const void* problem);
  const tw_epilogue& (*epilogue)(const void* problem);
  tw_epilogue& (*epilogue_of)(void* problem);
  void (*initialise)(void* problem);
};

// Integers that lie on the device, from which other fields of the problem follow.
struct ListField {
  const char* name;
  const char* one;  // in sentences: "A size"
  const char* meaning;
  const char* usual;  // "70,0,1"
  const char* many;   // "groups"
  // What a host that knows the problem alone may say: the first of `count`, at most most_guessed.
  struct Guess {
    std::vector<std::int64_t> first;
    std::int64_t count;
  };
  static constexpr std::int64_t most_guessed = 64;
  Guess (*guess)(const void* problem);
};

// Holds, or says why not. It is asked once all numbers are in their ranges, and before any tensor.
struct Rule {
  bool (*holds)(const void* problem);
  std::string (*says)(const void* problem);
};

struct Description {
  const char* name;  // "quantise"
  const char* meaning;
  const char* does;  // what no kernel does, where there is none: "quantises this"
  std::size_t size;  // the struct's, which its first member says
  std::span<const IntegerField> numbers;
  std::span<const RealField> reals;
  std::span<const Rule> rules;
  std::span<const TensorField> tensors;
  const ProductField* product = nullptr;  // null: nothing is multiplied
  std::span<const ListField> lists = {};
  bool is_tuned = false;  // ./tw tune measures its calls
};

namespace detail {

// The field at the end of a path of members, through structs in structs.
template <auto... path, class Problem>
constexpr auto& at(Problem& problem) {
  return (problem.*....*path);
}
template <class Member>
struct StructOf;
template <class Struct, class Type>
struct StructOf<Type Struct::*> {
  using Owner = Struct;
};
template <auto first, auto... others>
struct PathOf {
  using Problem = typename StructOf<decltype(first)>::Owner;
};
template <auto... path>
using ProblemAt = typename PathOf<path...>::Problem;
template <auto... path>
using FieldAt = std::remove_reference_t<decltype(at<path...>(std::declval<ProblemAt<path...>&>()))>;

// Functions of a described problem are written for its struct and called by its address.
template <class Function>
struct ProblemOf;
template <class Function, class Value, class Problem>
struct ProblemOf<Value (Function::*)(const Problem&) const> {
  using Type = Problem;
};
template <class Function>
constexpr auto by_address(Function) {
  using Problem = typename ProblemOf<decltype(&Function::operator())>::Type;
  return [](const void* problem) { return Function{}(*static_cast<const Problem*>(problem)); };
}

struct NumberFacts {
  const char* meaning = "";
  std::int64_t usual = 0, initial = 0, low = 0, limit = extent_limit;
  const char* title = nullptr;
  const char* along = "";
};

}  // namespace detail

template <auto... path>
constexpr IntegerField number(const char* name, const detail::NumberFacts& facts,
                              IntegerField::Kind kind = IntegerField::Kind::Extent) {
  using Problem = detail::ProblemAt<path...>;
  return {name,
          facts.meaning,
          kind,
          facts.usual,
          facts.initial,
          facts.low,
          facts.limit,
          [](const void* problem) -> std::int64_t {
            const auto& value = detail::at<path...>(*static_cast<const Problem*>(problem));
            // C's enums hold what a caller writes into them, and -1 is shown as such.
            if constexpr (std::is_enum_v<detail::FieldAt<path...>>) return static_cast<int>(value);
            return static_cast<std::int64_t>(value);
          },
          [](void* problem, std::int64_t value) {
            detail::at<path...>(*static_cast<Problem*>(problem)) =
                static_cast<detail::FieldAt<path...>>(value);
          },
          facts.title,
          facts.along};
}
template <auto... path>
constexpr IntegerField flag(const char* name, const char* meaning) {
  return number<path...>(name, {.meaning = meaning}, IntegerField::Kind::Flag);
}
// `holds` and `says` take the problem.
template <class Holds, class Says>
constexpr Rule rule(Holds holds, Says says) {
  return {detail::by_address(holds), detail::by_address(says)};
}

namespace detail {

struct TensorFacts {
  const char* title;
  Types types;
  TensorField::Lines lines = TensorField::Lines::Rows;
  const char* one = nullptr;
};

// Leaves the bytes between and behind fields as they are: zero, where tw_init has been.
constexpr void take_fields(tw_matrix& to, const tw_matrix& given) {
  to.data = given.data;
  to.row_stride = given.row_stride;
  to.column_stride = given.column_stride;
  to.batch_stride = given.batch_stride;
  to.type = given.type;
}

template <auto... path, class ExtentsOf>
constexpr TensorField matrix(const char* name, TensorField::Flow flow, const TensorFacts& facts,
                             ExtentsOf extents) {
  using Problem = ProblemAt<path...>;
  return {name,
          facts.title,
          facts.one,
          flow,
          facts.lines,
          facts.types,
          by_address(extents),
          [](const void* problem) -> tw_matrix {
            return at<path...>(*static_cast<const Problem*>(problem));
          },
          [](void* problem, const tw_matrix& given) {
            take_fields(at<path...>(*static_cast<Problem*>(problem)), given);
          },
          nullptr};
}

}  // namespace detail

// Tensors whose member is a tw_matrix. `extents` takes the problem.
template <auto... path, class ExtentsOf>
constexpr TensorField reads(const char* name, const detail::TensorFacts& facts, ExtentsOf extents) {
  return detail::matrix<path...>(name, TensorField::Flow::Read, facts, extents);
}
template <auto... path, class ExtentsOf>
constexpr TensorField writes(const char* name, const detail::TensorFacts& facts,
                             ExtentsOf extents) {
  return detail::matrix<path...>(name, TensorField::Flow::Written, facts, extents);
}

// The same tensor, which no grid that may still run writes where `constant` says so.
template <class Constant>
constexpr TensorField constant_where(Constant constant, TensorField tensor) {
  tensor.constant = detail::by_address(constant);
  return tensor;
}

}  // namespace tw
