// Where the caret goes, and what the sentence says. Each case is the expression, the line of the
// caret as it stands below the expression, and the sentence.
#include <gtest/gtest.h>

#include "src/layout_tool/evaluate.h"

namespace tw::layout_tool {
namespace {

struct Malformed {
  std::string expression;
  std::string caret;
  std::string sentence;

  friend std::ostream& operator<<(std::ostream& stream, const Malformed& one) {
    return stream << one.expression;
  }
};

class MalformedExpression : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedExpression, IsTold) {
  const auto& [expression, caret, sentence] = GetParam();
  try {
    ADD_FAILURE() << expression << " is worth " << to_text(evaluate(expression));
  } catch (const ExpressionError& error) {
    EXPECT_EQ(with_caret(expression, error), sentence + "\n  " + expression + "\n  " + caret);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Text, MalformedExpression,
    testing::Values(
        Malformed{"", "^",
                  "A layout, a tiler, a number or a function is expected here, but the expression "
                  "ends."},
        Malformed{"coalesce(", "         ^",
                  "A layout, a tiler, a number or a function is expected here, but the expression "
                  "ends."},
        Malformed{"coalesce()", "         ^",
                  "A layout, a tiler, a number or a function is expected here, not ')'."},
        Malformed{"coalesce(4:1", "            ^",
                  "',' or ')' is expected in the arguments of coalesce, but the expression ends."},
        Malformed{"composition((6,2):(8,2) (4,3):(3,1))", "                        ^",
                  "',' or ')' is expected in the arguments of composition, not '('."},
        Malformed{"coalesce 4:1", "         ^", "'(' is expected after coalesce, not '4'."},
        Malformed{"(4,8):(8,1) 3", "            ^", "The expression should end here, not '3'."},
        Malformed{"(4,8):(8,1))", "           ^", "The expression should end here, not ')'."},
        Malformed{"4:1 of 3:1", "    ^", "The expression should end here, or go on with o."},
        Malformed{"20:2 o", "      ^",
                  "A layout, a tiler, a number or a function is expected here, but the expression "
                  "ends."},
        Malformed{"(4,,8)", "   ^", "An extent is expected here, not ','."},
        Malformed{"(4,8", "    ^", "',' or ')' is expected here, but the expression ends."},
        Malformed{"(4,8]:(1,4)", "    ^", "',' or ')' is expected here, not ']'."},
        Malformed{"(5:8,4:2)", "  ^", "',' or ')' is expected here, not ':'."},
        Malformed{"(4,\xC3\xA9)", "   ^", "An extent is expected here, not '\xC3\xA9'."},
        Malformed{"(4,8):(8,x)", "         ^", "A stride is expected here, not 'x'."},
        Malformed{"(4,8):(8,-)", "          ^", "A stride is expected here, not ')'."},
        Malformed{"(4,8):(8,1@x)", "           ^", "An axis is expected here, not 'x'."},
        Malformed{"(4,8):(8,1@16)", "         ^", "layout: an axis must lie between 0 and 15"},
        Malformed{"(4,0):(1,1)", "   ^", "An extent must be positive, not 0."},
        Malformed{"(4,-2):(1,1)", "   ^", "An extent must be positive, not -2."},
        Malformed{"0:1", "^", "An extent must be positive, not 0."},
        Malformed{"(4,_)", "   ^", "An extent known only at run time needs a stride."},
        Malformed{"(4,8):(8,1,2)", "           ^",
                  "The strides are nested differently from the extents."},
        Malformed{"(4,8):8", "      ^", "The strides are nested differently from the extents."},
        Malformed{"((2,2),3):(24,2,8)", "              ^",
                  "The strides are nested differently from the extents."},
        Malformed{"(1,1,1,1,1,1,1,1,1,1,1,1,1)", "                         ^",
                  "layout: it would need more than 12 leaves"},
        Malformed{"((((((((((((((((4))))))))))))))))", "               ^",
                  "A layout is nested more than 15 deep."},
        Malformed{"size(140737488355329)", "     ^",
                  "A number must not exceed 2^47 = 140737488355328 in magnitude."},
        Malformed{"(4000000,4000000,4000000)", "                 ^",
                  "layout: a size or stride would not fit in 64 bits"},
        Malformed{"<3:3,", "     ^",
                  "A layout, a tiler, a number or a function is expected here, but the expression "
                  "ends."},
        Malformed{"<3:3", "    ^", "',' or '>' is expected in a tiler, but the expression ends."},
        Malformed{"<1,1,1,1,1>", "         ^", "A tiler has at most 4 modes."},
        Malformed{"<<3>,4>", " ^", "Argument 1 of the tiler must be a layout, not a tiler."},
        Malformed{"Sw(3,3,3)", "  ^", "A swizzle is written Sw<3,3,3>, not '('."},
        Malformed{"Sw<3,3", "      ^",
                  "',' or '>' is expected in a swizzle, but the expression ends."}));

INSTANTIATE_TEST_SUITE_P(
    Calls, MalformedExpression,
    testing::Values(Malformed{"coalesce(merge(4:1))", "         ^",
                              "There is no function 'merge'; ./tw layout --help lists them."},
                    Malformed{
                        "size(composition(4:1))", "     ^",
                        "composition takes (A, B  or  A, <B,C>  or  swizzle, L), not 1 argument."},
                    Malformed{"size(4:1, 2)", "^", "size takes (L), not 2 arguments."},
                    Malformed{"coalesce(<3,4>)", "         ^",
                              "Argument 1 of coalesce must be a layout, not a tiler."},
                    Malformed{"upcast(4:1, 2:1)", "            ^",
                              "Argument 2 of upcast must be a number, not a layout."},
                    Malformed{"compose(4:1, swizzle(3,0,3))", "             ^",
                              "Argument 2 of compose must be a layout, not a swizzle."},
                    Malformed{"coalesce(0)", "         ^", "An extent must be positive, not 0."},
                    Malformed{"coalesce((2,2), <1>)", "                ^",
                              "The layout has 2 modes, but 1 are marked."},
                    Malformed{"complement(4:2, -1)", "                ^",
                              "The target must be positive, not -1."},
                    Malformed{"swizzle(3,0,99)", "            ^",
                              "Argument 3 of swizzle must lie between -31 and 31, not 99."},
                    Malformed{"mode((2,2), 2)", "^", "layout: there is no such mode"}));

INSTANTIATE_TEST_SUITE_P(
    Algebra, MalformedExpression,
    testing::Values(Malformed{"composition((6,2):(8,2), 4:4)", "^",
                              "composition: the right operand straddles two left leaves"},
                    Malformed{"(6,2):(8,2) o 4:4", "            ^",
                              "composition: the right operand straddles two left leaves"},
                    Malformed{"coalesce(composition((4,3):(3,1), 6:1))", "         ^",
                              "composition: the right operand straddles two left leaves"},
                    Malformed{"complement((2,2):(1,1), 8)", "^",
                              "complement: the layout reaches an element twice"},
                    Malformed{"Sw<2,0,1> o (8,8)", "^",
                              "swizzle: the shift must be at least the number of bits"},
                    Malformed{"tile_to_shape((8,8), (12,8))", "^",
                              "tile_to_shape: the block does not divide the shape"},
                    Malformed{"upcast(9:1, 2)", "^",
                              "upcast: an extent does not divide into whole elements"}));

TEST(MalformedExpression, DeepCallsAreRefused) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "size(";
  EXPECT_THROW(evaluate(text), ExpressionError);
  EXPECT_THROW(evaluate(std::string(100000, '(')), ExpressionError);
  EXPECT_THROW(evaluate(std::string(100000, '<')), ExpressionError);
}

}  // namespace
}  // namespace tw::layout_tool
