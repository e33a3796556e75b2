// expression := operand { "o" operand }
// operand    := number | layout | "<" expression { "," expression } ">"
//             | "Sw<" number "," number "," number ">" | name "(" expression { "," expression } ")"
// layout     := tree [ ":" tree ],  tree := leaf | "(" tree { "," tree } ")"
#include <fmt/format.h>

#include "src/layout_tool/expression.h"
#include "src/layout_tool/reader.h"
#include "tilewright/layout/modes.h"

namespace tw::layout_tool {

namespace {

constexpr int deepest_call = 32;
constexpr int deepest_tree = 15;

// A tree of extents or of strides. The values are held as strides, which may be any number.
struct Tree {
  Layout values{};
  std::vector<std::size_t> positions;  // where the leaves stand in the text
};

// Refusals of the algebra, told at a place of the text.
template <class Function>
void at(std::size_t position, Function&& function) {
  try {
    function();
  } catch (const Refusal& refusal) {
    throw ExpressionError(position, refusal.what());
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : reader_(text) {}

  Expression whole() {
    Expression result = expression(0);
    if (!reader_.at_end()) reader_.fail_expecting("The expression should end here");
    return result;
  }

 private:
  Expression expression(int depth) {
    if (depth > deepest_call) {
      throw ExpressionError(reader_.position(),
                            fmt::format("Calls are nested more than {} deep.", deepest_call));
    }
    std::vector<Expression> operands;
    std::vector<std::size_t> circles;
    operands.push_back(operand(depth));
    while (reader_.next() == 'o') {
      circles.push_back(reader_.position());
      if (reader_.name() != "o") {
        throw ExpressionError(circles.back(), "The expression should end here, or go on with o.");
      }
      if (depth + static_cast<int>(circles.size()) > deepest_call) {
        throw ExpressionError(
            circles.back(),
            fmt::format("Compositions are nested more than {} deep.", deepest_call));
      }
      operands.push_back(operand(depth));
    }
    Expression result = std::move(operands.back());
    for (std::size_t i = circles.size(); i-- > 0;) {
      Expression composed = call(circles[i], "composition");
      composed.operands.push_back(std::move(operands[i]));
      composed.operands.push_back(std::move(result));
      result = std::move(composed);
    }
    return result;
  }

  Expression operand(int depth) {
    const std::size_t position = reader_.position();
    if (reader_.is_name()) return named(depth);
    if (reader_.accept('<')) {
      Expression result{Expression::Kind::Tiler, position, 0, {}, {}, {}};
      list(result, depth, '>', "a tiler");
      return result;
    }
    if (reader_.is_number()) {
      const std::int64_t number = reader_.number("");
      if (reader_.next() != ':') {
        return Expression{Expression::Kind::Number, position, number, {}, {}, {}};
      }
      check_extent(position, number);
      Tree extents;
      extents.values.push(Leaf{1, number, 0}, 0);
      extents.positions.push_back(position);
      return layout(position, extents);
    }
    if (reader_.next() != '(' && reader_.next() != '_') {
      reader_.fail_expecting("A layout, a tiler, a number or a function is expected here");
    }
    return layout(position, tree([this] { return extent(); }, 0));
  }

  static Expression call(std::size_t position, std::string function) {
    return Expression{Expression::Kind::Call, position, 0, {}, std::move(function), {}};
  }

  Expression named(int depth) {
    const std::size_t position = reader_.position();
    const std::string name = reader_.name();
    if (name == "Sw") {
      Expression result = call(position, "swizzle");
      reader_.expect('<', "A swizzle is written Sw<3,3,3>");
      list(result, depth, '>', "a swizzle");
      return result;
    }
    Expression result = call(position, name);
    reader_.expect('(', fmt::format("'(' is expected after {}", name));
    list(result, depth, ')', "the arguments of " + name);
    return result;
  }

  void list(Expression& result, int depth, char end, const std::string& what) {
    do {
      result.operands.push_back(expression(depth + 1));
    } while (reader_.accept(','));
    reader_.expect(end, fmt::format("',' or '{}' is expected in {}", end, what));
  }

  template <class ReadLeaf>
  Tree tree(ReadLeaf read_leaf, int depth) {
    const std::size_t position = reader_.position();
    Tree result;
    if (!reader_.accept('(')) {
      const Leaf leaf = read_leaf();
      at(position, [&] { result.values.push(leaf, 0); });
      result.positions.push_back(position);
      return result;
    }
    if (depth == deepest_tree) {
      throw ExpressionError(position,
                            fmt::format("A layout is nested more than {} deep.", deepest_tree));
    }
    do {
      const Tree child = tree(read_leaf, depth + 1);
      at(child.positions.front(), [&] { push_mode(result.values, child.values); });
      result.positions.insert(result.positions.end(), child.positions.begin(),
                              child.positions.end());
    } while (reader_.accept(','));
    reader_.expect(')', "',' or ')' is expected here");
    return result;
  }

  Leaf extent() {
    if (reader_.accept('_')) return Leaf{1, dyn, 0};
    const std::size_t position = reader_.position();
    const std::int64_t value = reader_.number("An extent is expected here");
    check_extent(position, value);
    return Leaf{1, value, 0};
  }

  static void check_extent(std::size_t position, std::int64_t value) {
    if (value < 1) {
      throw ExpressionError(position, fmt::format("An extent must be positive, not {}.", value));
    }
  }

  Leaf stride() {
    const std::int64_t value = reader_.number("A stride is expected here");
    return Leaf{1, value, reader_.accept('@') ? reader_.number("An axis is expected here") : 0};
  }

  Expression layout(std::size_t position, const Tree& extents) {
    Tree strides;
    const bool has_strides = reader_.accept(':');
    if (has_strides) {
      strides = tree([this] { return stride(); }, 0);
      check_same_nesting(extents, strides);
    }
    Expression result{Expression::Kind::Layout, position, 0, {}, {}, {}};
    std::int64_t compact = 1;
    for (int i = 0; i < extents.values.leaves; ++i) {
      const std::size_t leaf_position = extents.positions[static_cast<std::size_t>(i)];
      const std::int64_t extent = extents.values.strides[i];
      if (!has_strides && extent == dyn) {
        throw ExpressionError(leaf_position, "An extent known only at run time needs a stride.");
      }
      Leaf leaf = has_strides ? strides.values.leaf(i) : Leaf{1, compact, 0};
      leaf.extent = extent;
      at(leaf_position, [&] {
        result.layout.push(leaf, extents.values.comma_before(i));
        if (!has_strides) compact = checked_product(compact, extent);
      });
    }
    return result;
  }

  // The caret goes under the first stride that has no extent at the same place of the tree.
  void check_same_nesting(const Tree& extents, const Tree& strides) {
    const char* sentence = "The strides are nested differently from the extents.";
    for (int i = 0; i < strides.values.leaves; ++i) {
      const bool matches = i < extents.values.leaves &&
                           extents.values.comma_before(i) == strides.values.comma_before(i);
      if (!matches) throw ExpressionError(strides.positions[static_cast<std::size_t>(i)], sentence);
    }
    if (strides.values.leaves < extents.values.leaves) {
      throw ExpressionError(strides.positions.back(), sentence);
    }
  }

  Reader reader_;
};

}  // namespace

Expression parse_expression(std::string_view text) { return Parser(text).whole(); }

}  // namespace tw::layout_tool
