// Words of descriptions beyond those of a product: reals, choices, vectors and dense tensors,
// lists, and what a problem has only sometimes.
#pragma once

#include "tilewright/launch/description.h"

namespace tw {

// The same number, with another value where the option is left out.
constexpr IntegerField usually(std::int64_t value, IntegerField number) {
  number.usual = value;
  return number;
}

template <auto... path>
constexpr IntegerField derived(const char* name, const detail::NumberFacts& facts = {}) {
  return number<path...>(name, facts, IntegerField::Kind::Derived);
}
template <auto... path>
constexpr RealField real(const char* name, const char* meaning, double usual) {
  using Problem = detail::ProblemAt<path...>;
  return {name, meaning, usual,
          [](const void* problem) -> double {
            return detail::at<path...>(*static_cast<const Problem*>(problem));
          },
          [](void* problem, double value) {
            detail::at<path...>(*static_cast<Problem*>(problem)) =
                static_cast<detail::FieldAt<path...>>(value);
          }};
}

// An enum of the C interface, tw_TYPE, whose values count from 0; `words` are those of the option.
template <auto... path>
constexpr IntegerField choice(const char* name, const char* meaning,
                              std::span<const char* const> words, const char* type) {
  IntegerField field =
      number<path...>(name, {.meaning = meaning, .limit = static_cast<std::int64_t>(words.size())},
                      IntegerField::Kind::Choice);
  field.words = words;
  field.title = type;
  return field;
}

// Rows that several parts of a problem have alike, one behind the other.
template <class Field, std::size_t... counts>
constexpr std::array<Field, (counts + ...)> joined(const std::array<Field, counts>&... parts) {
  std::array<Field, (counts + ...)> all = {};
  auto next = all.begin();
  ((next = std::copy(parts.begin(), parts.end(), next)), ...);
  return all;
}

// Fields of several parts of a description.
template <class Field, std::size_t... counts>
constexpr std::array<Field, (counts + ...)> joined(const Field (&... parts)[counts]) {
  const Field* const firsts[] = {parts...};
  const auto field = [&](std::size_t index) -> const Field& {
    const Field* const* first = firsts;
    for (const std::size_t count : {counts...}) {
      if (index < count) break;
      index -= count;
      ++first;
    }
    return (*first)[index];
  };
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<Field, (counts + ...)>{field(i)...};
  }
  (std::make_index_sequence<(counts + ...)>());
}

// Without strides: an address, and a type, which may be another tensor's. `extents` takes the
// problem.
template <auto data, auto type, bool has_type = true, class ExtentsOf>
constexpr TensorField dense(const char* name, TensorField::Flow flow,
                            const detail::TensorFacts& facts, ExtentsOf extents) {
  using Problem = detail::ProblemAt<data>;
  TensorField field = {name,
                       facts.title,
                       facts.one,
                       flow,
                       facts.lines,
                       facts.types,
                       detail::by_address(extents),
                       [](const void* problem) -> tw_matrix {
                         const Problem& given = *static_cast<const Problem*>(problem);
                         return {const_cast<void*>(given.*data), 0, 1, 0, given.*type};
                       },
                       [](void* problem, const tw_matrix& given) {
                         static_cast<Problem*>(problem)->*data = given.data;
                         if (has_type) static_cast<Problem*>(problem)->*type = given.type;
                       },
                       nullptr};
  field.dense = true;
  field.has_type = has_type;
  return field;
}

// A vector of which the host knows the address alone.
template <auto... path, class CountOf>
constexpr TensorField vector_of(const char* name, const char* title, ElementType type, CountOf) {
  using Problem = detail::ProblemAt<path...>;
  using Pointer = detail::FieldAt<path...>;
  return {name,
          title,
          nullptr,
          TensorField::Flow::Read,
          TensorField::Lines::Rows,
          type,
          [](const void* problem) -> TensorExtents {
            return {1, 1, CountOf{}(*static_cast<const Problem*>(problem))};
          },
          [](const void* problem) -> tw_matrix {
            const Problem& given = *static_cast<const Problem*>(problem);
            const std::int64_t count = CountOf{}(given);
            using Element = std::remove_const_t<std::remove_pointer_t<Pointer>>;
            constexpr bool is_real = std::is_floating_point_v<Element>;
            return {const_cast<Element*>(detail::at<path...>(given)), count, 1, 0,
                    is_real ? TW_FP32 : TW_S32};
          },
          [](void* problem, const tw_matrix& given) {
            detail::at<path...>(*static_cast<Problem*>(problem)) = static_cast<Pointer>(given.data);
          },
          nullptr};
}

template <auto... path, class CountOf>
constexpr TensorField integers(const char* name, const char* title, CountOf count) {
  return vector_of<path...>(name, title, ElementType::S32, count);
}

// The same tensor, which kernels write.
constexpr TensorField written(TensorField tensor) {
  tensor.flow = TensorField::Flow::Written;
  return tensor;
}

// The same tensor, which a problem has only where `present`, a function of it, says so.
template <class Present>
constexpr TensorField where(Present present, TensorField tensor) {
  tensor.present = detail::by_address(present);
  return tensor;
}

// The same tensor, which is present where its address is not null, as the caller likes.
constexpr TensorField optional(TensorField tensor) {
  tensor.optional = true;
  return tensor;
}

// `guess` takes the problem.
template <class Guess>
constexpr ListField list(const char* name, const char* one, const char* many, const char* meaning,
                         const char* usual, Guess guess) {
  return {name, one, meaning, usual, many, detail::by_address(guess)};
}

}  // namespace tw
