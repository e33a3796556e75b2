// Layouts as text: "((2,2),3):((24,2),8)"_layout, "Sw<3,0,3> o (8,8):(8,1)"_layout, and back. `_`
// is an extent known at run time, `8@1` a stride of 8 on axis 1; without strides the layout is
// compact, first leaf fastest.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tilewright/layout/offset.h"

namespace tw {

namespace detail {

struct TextReader {
  std::string_view text;
  std::size_t position;

  constexpr bool at_end() {
    while (position < text.size() && text[position] == ' ') ++position;
    return position == text.size();
  }

  constexpr bool accept(char expected) {
    if (at_end() || text[position] != expected) return false;
    ++position;
    return true;
  }

  constexpr std::int64_t number() {
    bool negative = accept('-');
    std::size_t first = position;
    std::int64_t value = 0;
    while (position < text.size() && text[position] >= '0' && text[position] <= '9') {
      value = checked_product(value, 10) + (text[position++] - '0');
    }
    require(position > first, "layout text: a number is missing");
    return negative ? -value : value;
  }

  template <class ReadLeaf>
  constexpr Layout tree(ReadLeaf read_leaf) {
    Layout result{};
    if (!accept('(')) {
      result.push(read_leaf(*this), 0);
      return result;
    }
    do {
      push_mode(result, tree(read_leaf));
    } while (accept(','));
    require(accept(')'), "layout text: a parenthesis is not closed");
    return result;
  }

  constexpr Swizzle swizzle() {
    if (!accept('S')) return Swizzle{0, 0, 0};
    require(accept('w') && accept('<'), "layout text: a swizzle is written Sw<3,0,3> o");
    std::int64_t bits = number();
    require(accept(','), "layout text: a swizzle is written Sw<3,0,3> o");
    std::int64_t base = number();
    require(accept(','), "layout text: a swizzle is written Sw<3,0,3> o");
    std::int64_t shift = number();
    require(accept('>') && accept('o'), "layout text: a swizzle is written Sw<3,0,3> o");
    require(bits < 32 && base < 32 && absolute(shift) < 32, "swizzle: it must end below bit 31");
    return make_swizzle(static_cast<int>(bits), static_cast<int>(base), static_cast<int>(shift));
  }

  constexpr Layout layout() {
    Swizzle swizzle_read = swizzle();
    Layout extents = tree([](TextReader& reader) {
      return Leaf{reader.accept('_') ? dyn : reader.number(), 0, 0};
    });
    Layout strides{};
    bool has_strides = accept(':');
    if (has_strides) {
      strides = tree([](TextReader& reader) {
        std::int64_t stride = reader.number();
        return Leaf{1, stride, reader.accept('@') ? reader.number() : 0};
      });
      bool matches = strides.comma == extents.comma && strides.leaves == extents.leaves;
      require(matches, "layout text: extents and strides are nested differently");
    }
    Layout result{};
    std::int64_t compact = 1;
    for (int i = 0; i < extents.leaves; ++i) {
      Leaf leaf = has_strides ? strides.leaf(i) : Leaf{1, compact, 0};
      leaf.extent = extents.extents[i];
      result.push(leaf, extents.comma_before(i));
      require(has_strides || leaf.extent != dyn, "layout text: a dynamic extent needs a stride");
      if (!has_strides) compact = checked_product(compact, leaf.extent);
    }
    result.swizzle = swizzle_read;
    return result;
  }
};

template <class WriteLeaf>
std::string tree_to_string(int leaves, std::uint64_t comma, WriteLeaf write_leaf) {
  auto comma_at = [&](int i) { return static_cast<int>(comma >> (4 * i) & 15); };
  std::string text;
  int open = 0;
  for (int i = 0; i < leaves; ++i) {
    // Parentheses stay open for as long as the next comma is inside them.
    int after = i + 1 < leaves ? comma_at(i + 1) : -1;
    if (i > 0) text += ',';
    for (; open < after + 1; ++open) text += '(';
    text += write_leaf(i);
    for (; open > after + 1; --open) text += ')';
  }
  return text;
}

}  // namespace detail

constexpr Layout parse_layout(std::string_view text) {
  detail::TextReader reader{text, 0};
  Layout result = reader.layout();
  require(reader.at_end(), "layout text: something follows the layout");
  return result;
}

inline namespace literals {
consteval Layout operator""_layout(const char* text, std::size_t length) {
  return parse_layout(std::string_view(text, length));
}
}  // namespace literals

inline std::string to_string(const Coordinate& coordinate) {
  return detail::tree_to_string(static_cast<int>(coordinate.leaves), coordinate.comma,
                                [&](int i) { return std::to_string(coordinate.values[i]); });
}

inline std::string to_string(Swizzle swizzle) {
  return "Sw<" + std::to_string(swizzle.bits) + "," + std::to_string(swizzle.base) + "," +
         std::to_string(swizzle.shift) + ">";
}

inline std::string to_string(const Layout& layout) {
  std::string text = layout.swizzle.is_identity() ? "" : to_string(layout.swizzle) + " o ";
  text += detail::tree_to_string(layout.leaves, layout.comma, [&](int i) {
    return layout.extents[i] == dyn ? "_" : std::to_string(layout.extents[i]);
  });
  text += ':';
  text += detail::tree_to_string(layout.leaves, layout.comma, [&](int i) {
    std::string stride = std::to_string(layout.strides[i]);
    return layout.axis(i) == 0 ? stride : stride + "@" + std::to_string(layout.axis(i));
  });
  return text;
}

}  // namespace tw
