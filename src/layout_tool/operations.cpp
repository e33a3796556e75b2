#include "src/layout_tool/operations.h"

#include <fmt/format.h>

#include "tilewright/layout/algebra.h"

namespace tw::layout_tool {

void Arguments::fail(std::size_t index, const std::string& sentence) const {
  throw ExpressionError(arguments_[index].position, sentence);
}

void Arguments::fail_kind(std::size_t index, const char* wanted) const {
  fail(index, fmt::format("Argument {} of {} must be {}, not {}.", index + 1, function_, wanted,
                          kind_of(arguments_[index].value)));
}

Layout Arguments::layout(std::size_t index) const {
  if (!is<std::int64_t>(index)) return get<Layout>(index, "a layout");
  if (number(index) < 1) {
    fail(index, fmt::format("An extent must be positive, not {}.", number(index)));
  }
  return single(number(index), 1);
}

int Arguments::small_number(std::size_t index) const {
  const std::int64_t value = number(index);
  if (value < -31 || value > 31) {
    fail(index, fmt::format("Argument {} of {} must lie between -31 and 31, not {}.", index + 1,
                            function_, value));
  }
  return static_cast<int>(value);
}

namespace {

// `operation` on a layout and a second one, or mode by mode with a tiler.
template <class Function>
Layout with_tile(const Arguments& a, Function operation) {
  if (a.is<Tiler>(1)) return operation(a.layout(0), a.tiler(1));
  return operation(a.layout(0), a.layout(1));
}

Value compose(const Arguments& a) {
  if (a.is<Swizzle>(0)) return composition(a.swizzle(0), a.layout(1));
  return with_tile(a, [](const Layout& l, const auto& t) { return composition(l, t); });
}

// The numbers of the second argument only mark the modes.
Value simplify(const Arguments& a) {
  const Layout layout = a.layout(0);
  if (a.count() == 1) return coalesce(layout);
  if (a.tiler(1).rank != rank(layout)) {
    a.fail(1, fmt::format("The layout has {} modes, but {} are marked.", rank(layout),
                          a.tiler(1).rank));
  }
  return coalesce_modes(layout);
}

Value complete(const Arguments& a) {
  if (a.count() == 1) return complement(a.layout(0));
  if (a.number(1) < 1) {
    a.fail(1, fmt::format("The target must be positive, not {}.", a.number(1)));
  }
  return complement(a.layout(0), a.number(1));
}

Value join(const Arguments& a) {
  Layout result{};
  for (std::size_t i = 0; i < a.count(); ++i) push_mode(result, a.layout(i));
  return result;
}

using A = const Arguments&;

constexpr Operation table[] = {
    {"coalesce", "L  or by mode  L, <1,1>", 1, 2, simplify},
    {"filter", "L", 1, 1, [](A a) -> Value { return filter(a.layout(0)); }},
    {"flatten", "L", 1, 1, [](A a) -> Value { return flatten(a.layout(0)); }},
    {"mode", "L, i", 2, 2, [](A a) -> Value { return mode(a.layout(0), a.small_number(1)); }},
    {"take", "L, begin, end", 3, 3,
     [](A a) -> Value { return take(a.layout(0), a.small_number(1), a.small_number(2)); }},
    {"group", "L, begin, end", 3, 3,
     [](A a) -> Value { return group(a.layout(0), a.small_number(1), a.small_number(2)); }},
    {"from_modes", "A, B, ...", 1, 12, join},
    {"composition", "A, B  or  A, <B,C>  or  swizzle, L", 2, 2, compose},
    {"compose", "A, B  or  A, <B,C>  or  swizzle, L", 2, 2, compose},
    {"complement", "L  or  L, n", 1, 2, complete},
    {"right_inverse", "L", 1, 1, [](A a) -> Value { return right_inverse(a.layout(0)); }},
    {"left_inverse", "L", 1, 1, [](A a) -> Value { return left_inverse(a.layout(0)); }},
    {"nullspace", "L", 1, 1, [](A a) -> Value { return nullspace(a.layout(0)); }},
    {"logical_divide", "A, B  or  A, <B,C>", 2, 2,
     [](A a) -> Value {
       return with_tile(a, [](const Layout& l, const auto& t) { return logical_divide(l, t); });
     }},
    {"zipped_divide", "A, B  or  A, <B,C>", 2, 2,
     [](A a) -> Value {
       return with_tile(a, [](const Layout& l, const auto& t) { return zipped_divide(l, t); });
     }},
    {"tiled_divide", "A, B  or  A, <B,C>", 2, 2,
     [](A a) -> Value {
       return with_tile(a, [](const Layout& l, const auto& t) { return tiled_divide(l, t); });
     }},
    {"flat_divide", "A, B  or  A, <B,C>", 2, 2,
     [](A a) -> Value {
       return with_tile(a, [](const Layout& l, const auto& t) { return flat_divide(l, t); });
     }},
    {"logical_product", "A, B  or  A, <B,C>", 2, 2,
     [](A a) -> Value {
       return with_tile(a, [](const Layout& l, const auto& t) { return logical_product(l, t); });
     }},
    {"blocked_product", "A, B", 2, 2,
     [](A a) -> Value { return blocked_product(a.layout(0), a.layout(1)); }},
    {"raked_product", "A, B", 2, 2,
     [](A a) -> Value { return raked_product(a.layout(0), a.layout(1)); }},
    {"tile_to_shape", "L, (m,n)  or  L, (m,n):order", 2, 2,
     [](A a) -> Value { return tile_to_shape(a.layout(0), a.layout(1)); }},
    {"upcast", "L, n", 2, 2, [](A a) -> Value { return upcast(a.layout(0), a.number(1)); }},
    {"downcast", "L, n", 2, 2, [](A a) -> Value { return downcast(a.layout(0), a.number(1)); }},
    {"recast", "L, old bits, new bits", 3, 3,
     [](A a) -> Value { return recast(a.layout(0), a.number(1), a.number(2)); }},
    {"max_common_vector", "A, B", 2, 2,
     [](A a) -> Value { return max_common_vector(a.layout(0), a.layout(1)); }},
    {"max_common_layout", "A, B", 2, 2,
     [](A a) -> Value { return max_common_layout(a.layout(0), a.layout(1)); }},
    {"domain_distribute", "L, parts", 2, 2,
     [](A a) -> Value { return domain_distribute(a.layout(0), a.number(1)); }},
    {"swizzle", "bits, base, shift  or  Sw<bits,base,shift>", 3, 3,
     [](A a) -> Value {
       return make_swizzle(a.small_number(0), a.small_number(1), a.small_number(2));
     }},
    {"size", "L", 1, 1, [](A a) -> Value { return size(a.layout(0)); }},
    {"cosize", "L", 1, 1, [](A a) -> Value { return cosize(a.layout(0)); }},
    {"rank", "L", 1, 1, [](A a) -> Value { return std::int64_t{rank(a.layout(0))}; }},
    {"depth", "L", 1, 1, [](A a) -> Value { return std::int64_t{depth(a.layout(0))}; }},
};

}  // namespace

std::span<const Operation> operations() { return table; }

}  // namespace tw::layout_tool
