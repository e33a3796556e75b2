// The functions of the language: names for the functions of the algebra, and nothing else.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "src/layout_tool/expression.h"
#include "src/layout_tool/value.h"

namespace tw::layout_tool {

struct Argument {
  std::size_t position;
  Value value;
};

// The arguments of one call, as the kinds that the function wants.
class Arguments {
 public:
  Arguments(std::string_view function, std::span<const Argument> arguments)
      : function_(function), arguments_(arguments) {}

  std::size_t count() const { return arguments_.size(); }

  // A number n is the layout n:1.
  Layout layout(std::size_t index) const;
  std::int64_t number(std::size_t index) const { return get<std::int64_t>(index, "a number"); }
  // A number of a mode or of a bit.
  int small_number(std::size_t index) const;
  const Tiler& tiler(std::size_t index) const { return get<Tiler>(index, "a tiler"); }
  Swizzle swizzle(std::size_t index) const { return get<Swizzle>(index, "a swizzle"); }

  template <class T>
  bool is(std::size_t index) const {
    return std::holds_alternative<T>(arguments_[index].value);
  }

  [[noreturn]] void fail(std::size_t index, const std::string& sentence) const;

 private:
  template <class T>
  const T& get(std::size_t index, const char* wanted) const {
    if (!is<T>(index)) fail_kind(index, wanted);
    return std::get<T>(arguments_[index].value);
  }
  [[noreturn]] void fail_kind(std::size_t index, const char* wanted) const;

  std::string_view function_;
  std::span<const Argument> arguments_;
};

struct Operation {
  std::string_view name;
  std::string_view parameters;  // for --help
  std::size_t fewest;
  std::size_t most;
  Value (*apply)(const Arguments& arguments);
};

std::span<const Operation> operations();

}  // namespace tw::layout_tool
