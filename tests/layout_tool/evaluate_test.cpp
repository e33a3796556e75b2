// What expressions are worth: the cases that the algebra promises, and the worked examples of
// CuTe's page on its layout algebra, all as text.
#include "src/layout_tool/evaluate.h"

#include <gtest/gtest.h>

#include "src/layout_tool/grid.h"
#include "tests/layout/random_layout.h"

namespace tw::layout_tool {
namespace {

struct Case {
  const char* expression;
  const char* expected;
};

void expect_cases(std::initializer_list<Case> cases) {
  for (const auto& [expression, expected] : cases) {
    SCOPED_TRACE(expression);
    try {
      EXPECT_EQ(to_text(evaluate(expression)), expected);
    } catch (const ExpressionError& error) {
      ADD_FAILURE() << with_caret(expression, error);
    }
  }
}

TEST(Evaluate, PromisedCases) {
  expect_cases({
      {"coalesce((2,4,6):(1,2,8))", "48:1"},
      {"coalesce((2,1,6):(4,7,8))", "12:4"},
      {"coalesce((2,1,3):(2,4,4))", "6:2"},
      {"coalesce((2,1,6):(1,6,2))", "12:1"},
      {"coalesce((2,(1,6)):(1,(6,2)), <1,1>)", "(2,6):(1,2)"},
      {"composition(20:2, (5,4):(4,1))", "(5,4):(8,2)"},
      {"composition((4,3):(3,1), 6:2)", "(2,3):(6,1)"},
      {"composition((4,3):(3,1), 24:1)", "(4,6):(3,1)"},
      {"composition((8,8):(8,1), ((2,2,2),(2,2,2)):((1,16,4),(8,2,32)))",
       "((2,2,2),(2,2,2)):((8,2,32),(1,16,4))"},
      {"composition((4,8,2):(2,8,1), (4,2,2):(2,8,1))", "(4,2,2):(4,16,2)"},
      {"composition((1,(2,4)):(0,(-1,512)), 4:-1)", "(2,2):(1,-512)"},
      {"complement(4:2, 24)", "(2,3):(1,8)"},
      {"complement(4:2, 19)", "(2,3):(1,8)"},
      {"complement((2,4,8):(8,1,64))", "(2,4):(4,16)"},
      {"complement(((2,2),(2,2)):((1,32),(8,4)))", "(2,2):(2,16)"},
      {"right_inverse((2,4,6):(4,1,8))", "(4,2,6):(2,1,8)"},
      {"right_inverse((32,4,4,4):(262144,4,8388608,1))", "(4,4):(512,32)"},
      {"left_inverse(4:2)", "(2,4):(0,1)"},
      {"left_inverse((128,3,160):(65536,512,1))", "(512,128,128):(384,128,1)"},
      {"nullspace((7,5,16):(3,1,0))", "16:35"},
      {"logical_divide((6,6):(1,12), (6,3):(3,1))", "(((2,3),3),2):(((3,12),1),36)"},
      {"logical_divide((8,8):(8,1), 32:2)", "((4,8),2):((16,1),8)"},
      {"zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)",
       "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"},
      {"logical_product((2,2):(4,1), 6:1)", "((2,2),(2,3)):((4,1),(2,8))"},
      {"logical_product(3:32, (8,8):(8,1))", "(3,((4,2),8)):(32,((8,96),1))"},
      {"blocked_product((2,5):(5,1), (3,4):(1,3))", "((2,3),(5,4)):((5,10),(1,30))"},
      {"domain_distribute(((64,3),(8,8)), 128)", "(64,2):(1,192)"},
      {"upcast((32,8):(1,32), 4)", "(8,8):(1,8)"},
      {"downcast((8,4):(1,8), 2)", "(16,4):(1,16)"},
      {"right_inverse(Sw<1,0,2> o (4,4):(4,1))", "Sw<1,0,-2> o (4,4):(4,1)"},
  });
}

TEST(Evaluate, RowFiveOfASwizzle) {
  const Grid grid(std::get<Layout>(evaluate("compose(swizzle(3,0,3), (8,8):(8,1))")));
  const std::int64_t expected[] = {45, 44, 47, 46, 41, 40, 43, 42};
  for (int column = 0; column < 8; ++column) {
    EXPECT_EQ(grid.offset(5, column), expected[column]);
  }
}

// https://docs.nvidia.com/cutlass/media/docs/cpp/cute/02_layout_algebra.html, in its order.
TEST(Evaluate, WorkedExamplesOfTheCutePage) {
  expect_cases({
      // Coalesce, and by mode.
      {"coalesce((2,(1,6)):(1,(6,2)))", "12:1"},
      {"coalesce((2,(1,6)):(1,(6,2)), <1,1>)", "(2,6):(1,2)"},
      {"from_modes(coalesce(mode((2,(1,6)):(1,(6,2)), 0)), coalesce(mode((2,(1,6)):(1,(6,2)), 1)))",
       "(2,6):(1,2)"},
      // Composition: examples 1 to 3, and by mode.
      {"(6,2):(8,2) o (4,3):(3,1)", "((2,2),3):((24,2),8)"},
      {"20:2  o  (5,4):(4,1)", "(5,4):(8,2)"},
      {"(10,2):(16,4) o (5,4):(1,5)", "(5,(2,2)):(16,(80,4))"},
      {"composition((12,(4,8)):(59,(13,1)), <3:4, 8:2>)", "(3,(2,4)):(236,(26,1))"},
      {"composition((12,(4,8)):(59,(13,1)), <3,8>)", "(3,(4,2)):(59,(13,1))"},
      // Complement.
      {"complement(4:1, 24)", "6:4"},
      {"complement(6:4, 24)", "4:1"},
      {"complement((4,6):(1,4), 24)", "1:0"},
      {"complement(4:2, 24)", "(2,3):(1,8)"},
      {"complement((2,4):(1,6), 24)", "3:2"},
      {"complement((2,2):(1,6), 24)", "(3,2):(2,12)"},
      // Division in one and in two dimensions, and its other forms.
      {"logical_divide((4,2,3):(2,1,8), 4:2)", "((2,2),(2,3)):((4,1),(2,8))"},
      {"logical_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)",
       "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"},
      {"composition((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)", "(3,(2,4)):(177,(13,2))"},
      {"zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)",
       "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"},
      {"tiled_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)",
       "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))"},
      {"flat_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)",
       "(3,(2,4),3,(2,2)):(177,(13,2),59,(26,1))"},
      // Product in one and in two dimensions, blocked and raked.
      {"logical_product((2,2):(4,1), 6:1)", "((2,2),(2,3)):((4,1),(2,8))"},
      {"logical_product((2,2):(4,1), (4,2):(2,1))", "((2,2),(4,2)):((4,1),(8,2))"},
      {"logical_product((2,5):(5,1), <3:5,4:6>)", "((2,3),(5,4)):((5,10),(1,30))"},
      {"blocked_product((2,5):(5,1), (3,4):(1,3))", "((2,3),(5,4)):((5,10),(1,30))"},
      // The page shows the rows coalesced.
      {"coalesce(blocked_product((2,5):(5,1), (3,4):(1,3)), <1,1>)", "(6,(5,4)):(5,(1,30))"},
      {"raked_product((2,5):(5,1), (3,4):(1,3))", "((3,2),(4,5)):((10,5),(30,1))"},
  });
}

TEST(Evaluate, Notation) {
  expect_cases({
      {"(4,8)", "(4,8):(1,4)"},
      {" ( 4 , 8 ) : ( 8 , 1 ) ", "(4,8):(8,1)"},
      {"((4)):((1))", "4:1"},
      {"24", "24"},
      {"coalesce(24)", "24:1"},
      {"<3:3, (2,4):(1,8)>", "<3:3,(2,4):(1,8)>"},
      {"<3, size((4,2))>", "<3:1,8:1>"},
      {"Sw<3,4,3>", "Sw<3,4,3>"},
      {"swizzle(1,0,-2)", "Sw<1,0,-2>"},
      {"Sw<3,0,3> o (8,8):(8,1)", "Sw<3,0,3> o (8,8):(8,1)"},
      {"Sw<3,0,3> o (8,8):(8,1) o (4,8):(1,8)", "Sw<3,0,3> o (4,8):(8,1)"},
      {"(_,64):(1@1,1)", "(_,64):(1@1,1)"},
      {"zipped_divide((_,_):(1@1,1), <128,64>)", "((128,64),(_,_)):((1@1,1),(128@1,64))"},
  });
}

TEST(Evaluate, OtherFunctions) {
  expect_cases({
      {"filter((2,4,4):(0,1,0))", "4:1"},
      {"flatten(((2,2),3):((24,2),8))", "(2,2,3):(24,2,8)"},
      {"mode(((2,2),3):((24,2),8), 0)", "(2,2):(24,2)"},
      {"take((2,3,4), 1, 3)", "(3,4):(2,6)"},
      {"group((2,3,4), 0, 2)", "((2,3),4):((1,2),6)"},
      {"from_modes(2:1, (3,4):(2,6))", "(2,(3,4)):(1,(2,6))"},
      {"tile_to_shape((8,8):(8,1), (32,64))", "(32,(8,8)):(8,(1,256))"},
      {"tile_to_shape((8,8):(8,1), (32,64):(64,1))", "((8,4),(8,8)):((8,512),(1,64))"},
      {"recast((16,4):(1,16), 6, 8)", "(12,4):(1,12)"},
      {"max_common_vector((4,3):(1,8), (4,6):(1,4))", "4"},
      {"max_common_layout((8,8):(8,1), (8,8):(8,1))", "(8,8):(8,1)"},
      {"size((4,8):(8,1))", "32"},
      {"cosize((4,8):(16,1))", "56"},
      {"rank(((2,2),3))", "2"},
      {"depth(((2,2),3))", "2"},
      {"size(complement(4:2, size((4,6))))", "6"},
  });
}

// The language reads what the library writes, and the library reads what the language reads.
TEST(Evaluate, ReadsWhatTheLibraryWrites) {
  RandomLayouts random(test_seed());
  for (int i = 0; i < 2000; ++i) {
    Layout layout = random.any(8, 6);
    if (random.number(0, 3) == 0) layout.swizzle = make_swizzle(random.number(1, 3), 2, 3);
    const std::string text = to_string(layout);
    ASSERT_EQ(std::get<Layout>(evaluate(text)), layout) << text;
    ASSERT_EQ(parse_layout(text), layout) << text;
  }
}

TEST(Evaluate, Table) {
  const Grid grid(std::get<Layout>(evaluate("((2,2),2):((4,1),2)")));
  EXPECT_EQ(table_of(grid),
            " index  coordinate    offset\n"
            "     0  ((0,0),0)          0\n"
            "     1  ((1,0),0)          4\n"
            "     2  ((0,1),0)          1\n"
            "     3  ((1,1),0)          5\n"
            "     4  ((0,0),1)          2\n"
            "     5  ((1,0),1)          6\n"
            "     6  ((0,1),1)          3\n"
            "     7  ((1,1),1)          7\n");
}

}  // namespace
}  // namespace tw::layout_tool
