// The words in which a family is described, once: the numbers and tensors of its problem, a struct
// of the C interface, and the rules that they keep. Checks, keys of plans, memory, options, lines
// of
// ./tw run, smaller problems and C calls follow from it, the same way for every family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "tilewright/number/element_type.h"
#include "tilewright/types.h"

namespace tw {

// "m = {} must be even." with the values in their places.
template <class... Values>
std::string sentence(const char* format, const Values&... values) {
  [[maybe_unused]] const auto text = [](const auto& value) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>)
      return std::to_string(value);
    else
      return std::string(value);
  };
  const std::string texts[] = {text(values)..., std::string()};
  const std::string* next = texts;
  std::string result;
  for (const char* at = format; *at != 0; ++at) {
    if (at[0] == '{' && at[1] == '}') {
      result += *next++;
      ++at;
    } else {
      result += *at;
    }
  }
  return result;
}

// What most extents stay below: a kernel counts elements of a dimension, and a tile beyond, in int.
inline constexpr std::int64_t extent_limit = (std::int64_t{1} << 31) - 256;

// An integer of a problem, and its option.
struct IntegerField {
  enum class Kind {
    Extent,  // at least `low` and below `limit`
    Flag     // 0 or anything else; an option without a value
  };
  const char* name;     // of the field; the option is --name with dashes
  const char* meaning;  // of the option
  Kind kind;
  std::int64_t usual;    // where the option is left out
  std::int64_t initial;  // what the initialiser of the C interface writes
  std::int64_t low;
  std::int64_t limit;
  std::int64_t (*get)(const void* problem);
  void (*set)(void* problem, std::int64_t value);
};

// A number that is no integer: of softmax, or of an epilogue.
struct RealField {
  const char* name;
  const char* meaning;
  double usual;  // also what the initialiser writes
  double (*get)(const void* problem);
  void (*set)(void* problem, double value);
};

// What an instruction or an option calls an element: a set of types, of which one is usual.
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

// A tensor of a problem. Its elements are contiguous along its rows, or along either side.
struct TensorField {
  enum class Flow { Read, Written };
  enum class Lines { Rows, RowsOrColumns };
  const char* name;   // of the field; options are --name-type and, for the lines, --name
  const char* title;  // in sentences: "the source", "the scales"
  const char* one;    // of several things, the one that they are: "the matrix of scales"; or null
  Flow flow;
  Lines lines;
  Types types;
  TensorExtents (*extents)(const void* problem);
  tw_matrix (*get)(const void* problem);
  void (*set)(void* problem, const tw_matrix& matrix);
  // Null: a problem always has it.
  bool (*present)(const void* problem);
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
  std::size_t size;  // of the struct, which its first member says
  std::span<const IntegerField> numbers;
  std::span<const RealField> reals;
  std::span<const Rule> rules;
  std::span<const TensorField> tensors;
};

namespace detail {

template <class Member>
struct FieldOf;
template <class Struct, class Type>
struct FieldOf<Type Struct::*> {
  using Problem = Struct;
  using Field = Type;
};

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
  const char* meaning;
  std::int64_t usual = 0, initial = 0, low = 0, limit = extent_limit;
};

}  // namespace detail

template <auto member>
constexpr IntegerField number(const char* name, const detail::NumberFacts& facts,
                              IntegerField::Kind kind = IntegerField::Kind::Extent) {
  using Problem = typename detail::FieldOf<decltype(member)>::Problem;
  using Field = typename detail::FieldOf<decltype(member)>::Field;
  return {name,
          facts.meaning,
          kind,
          facts.usual,
          facts.initial,
          facts.low,
          facts.limit,
          [](const void* problem) -> std::int64_t {
            return static_cast<const Problem*>(problem)->*member;
          },
          [](void* problem, std::int64_t value) {
            static_cast<Problem*>(problem)->*member = static_cast<Field>(value);
          }};
}
template <auto member>
constexpr IntegerField flag(const char* name, const char* meaning) {
  return number<member>(name, {.meaning = meaning}, IntegerField::Kind::Flag);
}
template <auto member>
constexpr RealField real(const char* name, const char* meaning, double usual) {
  using Problem = typename detail::FieldOf<decltype(member)>::Problem;
  using Field = typename detail::FieldOf<decltype(member)>::Field;
  return {
      name, meaning, usual,
      [](const void* problem) -> double { return static_cast<const Problem*>(problem)->*member; },
      [](void* problem, double value) {
        static_cast<Problem*>(problem)->*member = static_cast<Field>(value);
      }};
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

template <auto member, class ExtentsOf>
constexpr TensorField matrix(const char* name, TensorField::Flow flow, const TensorFacts& facts,
                             ExtentsOf extents) {
  using Problem = typename FieldOf<decltype(member)>::Problem;
  return {name,
          facts.title,
          facts.one,
          flow,
          facts.lines,
          facts.types,
          by_address(extents),
          [](const void* problem) -> tw_matrix {
            return static_cast<const Problem*>(problem)->*member;
          },
          [](void* problem, const tw_matrix& given) {
            static_cast<Problem*>(problem)->*member = given;
          },
          nullptr};
}

}  // namespace detail

// Tensors whose member is a tw_matrix. `extents` takes the problem.
template <auto member, class ExtentsOf>
constexpr TensorField reads(const char* name, const detail::TensorFacts& facts, ExtentsOf extents) {
  return detail::matrix<member>(name, TensorField::Flow::Read, facts, extents);
}
template <auto member, class ExtentsOf>
constexpr TensorField writes(const char* name, const detail::TensorFacts& facts,
                             ExtentsOf extents) {
  return detail::matrix<member>(name, TensorField::Flow::Written, facts, extents);
}

// A vector of integers, of which the host knows the address alone.
template <auto member, class CountOf>
constexpr TensorField integers(const char* name, const char* title, CountOf) {
  using Problem = typename detail::FieldOf<decltype(member)>::Problem;
  using Pointer = typename detail::FieldOf<decltype(member)>::Field;
  return {name,
          title,
          nullptr,
          TensorField::Flow::Read,
          TensorField::Lines::Rows,
          ElementType::S32,
          [](const void* problem) -> TensorExtents {
            return {1, 1, CountOf{}(*static_cast<const Problem*>(problem))};
          },
          [](const void* problem) -> tw_matrix {
            const Problem& given = *static_cast<const Problem*>(problem);
            const std::int64_t count = CountOf{}(given);
            return {const_cast<std::int32_t*>(given.*member), count, 1, 0, TW_S32};
          },
          [](void* problem, const tw_matrix& given) {
            static_cast<Problem*>(problem)->*member = static_cast<Pointer>(given.data);
          },
          nullptr};
}

// The same tensor, which a problem has only where `present`, a function of it, says so.
template <class Present>
constexpr TensorField where(Present present, TensorField tensor) {
  tensor.present = detail::by_address(present);
  return tensor;
}

}  // namespace tw
