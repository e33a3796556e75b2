// The numeric cases that the algebra promises literally, each checked as a function first, and each
// evaluated twice: in a constant expression and again at run time from text.
#include <gtest/gtest.h>

#include <string>

#include "tilewright/base/status.h"
#include "tilewright/layout/algebra.h"

namespace tw {
namespace {

void expect_same_function(const Layout& actual, const Layout& expected) {
  ASSERT_EQ(size(actual), size(expected));
  for (std::int64_t i = 0; i < size(expected); ++i) {
    ASSERT_EQ(offset(actual, i), offset(expected, i)) << "index " << i;
  }
}

// `operation` applies to layouts given as text at run time; `constant` was computed by the
// compiler.
template <class Operation, class... Texts>
void expect_case(const Layout& constant, const std::string& expected, Operation operation,
                 Texts... inputs) {
  SCOPED_TRACE(expected);
  Layout run_time = operation(parse_layout(inputs)...);
  expect_same_function(run_time, parse_layout(expected));
  EXPECT_EQ(to_string(run_time), expected);
  EXPECT_EQ(to_string(constant), expected);
  EXPECT_EQ(run_time, constant);
}

// One case: the operation as a function of `a` (and `b`), the result, and the operands as text.
#define CASE1(expression, expected, text)                                  \
  do {                                                                     \
    auto operation = [](const Layout& a) constexpr { return expression; }; \
    constexpr Layout constant = operation(text##_layout);                  \
    expect_case(constant, expected, operation, text);                      \
  } while (false)
#define CASE2(expression, expected, left, right)                                            \
  do {                                                                                      \
    auto operation = [](const Layout& a, const Layout& b) constexpr { return expression; }; \
    constexpr Layout constant = operation(left##_layout, right##_layout);                   \
    expect_case(constant, expected, operation, left, right);                                \
  } while (false)

TEST(AlgebraCases, Coalesce) {
  CASE1(coalesce(a), "48:1", "(2,4,6):(1,2,8)");
  CASE1(coalesce(a), "12:4", "(2,1,6):(4,7,8)");
  CASE1(coalesce(a), "6:2", "(2,1,3):(2,4,4)");
  CASE1(coalesce(a), "12:1", "(2,1,6):(1,6,2)");
  CASE1(coalesce(a), "1:0", "(1,(1,1)):(3,(4,5))");
  CASE1(coalesce_modes(a), "(2,6):(1,2)", "(2,(1,6)):(1,(6,2))");
}

TEST(AlgebraCases, Filter) {
  CASE1(filter_zeros(a), "(1,4,1):(0,1,0)", "(1,4,1):(0,1,0)");
  static_assert(filter_zeros("(2,4,4):(0,1,0)"_layout) == "(1,4,1):(0,1,0)"_layout);
  static_assert(filter("(2,4,4):(0,1,0)"_layout) == "4:1"_layout);
}

TEST(AlgebraCases, Composition) {
  CASE2(composition(a, b), "(5,4):(8,2)", "20:2", "(5,4):(4,1)");
  CASE2(composition(a, b), "(2,3):(6,1)", "(4,3):(3,1)", "6:2");
  CASE2(composition(a, b), "(4,6):(3,1)", "(4,3):(3,1)", "24:1");
  CASE2(composition(a, b), "(4,3,2):(3,1,0)", "(4,3,1):(3,1,0)", "24:1");
  CASE2(composition(a, b), "((2,2,2),(2,2,2)):((8,2,32),(1,16,4))", "(8,8):(8,1)",
        "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))");
  CASE2(composition(a, b), "(4,2,2):(4,16,2)", "(4,8,2):(2,8,1)", "(4,2,2):(2,8,1)");
  CASE2(composition(a, b), "(2,2):(1,-512)", "(1,(2,4)):(0,(-1,512))", "4:-1");
}

TEST(AlgebraCases, WrongCompositionsAreRefused) {
  auto sentence = [](const char* left, const char* right) {
    return attempt([&] { return composition(parse_layout(left), parse_layout(right)); })
        .status.sentence();
  };
  const char* straddles = "composition: the right operand straddles two left leaves";
  const char* overlaps = "composition: right leaves overlap in one left leaf";
  // The true offsets are 0, 32, 18, 4: no layout.
  EXPECT_EQ(sentence("(6,2):(8,2)", "4:4"), straddles);
  EXPECT_EQ(sentence("(4,3):(3,1)", "6:1"), straddles);
  EXPECT_EQ(sentence("(4,3):(3,1)", "2:6"), straddles);
  EXPECT_EQ(sentence("(4,2):(1,100)", "(2,2):(3,1)"), overlaps);
  EXPECT_EQ(sentence("(4,2):(1,100)", "(4,2):(1,2)"), overlaps);
  EXPECT_EQ(sentence("(2,4):(1,100)", "(2,2):(4,-1)"),
            "composition: the right operand has strides of both signs");
}

TEST(AlgebraCases, Complement) {
  CASE1(complement(a, 24), "(2,3):(1,8)", "4:2");
  CASE1(complement(a, 19), "(2,3):(1,8)", "4:2");
  CASE1(complement(a), "(2,4):(4,16)", "(2,4,8):(8,1,64)");
  CASE1(complement(a), "(2,2):(2,16)", "((2,2),(2,2)):((1,32),(8,4))");
  static_assert(complement("8:1"_layout, dyn) == "_:8"_layout);
}

TEST(AlgebraCases, Inverses) {
  CASE1(right_inverse(a), "(4,2,6):(2,1,8)", "(2,4,6):(4,1,8)");
  CASE1(right_inverse(a), "(4,4):(512,32)", "(32,4,4,4):(262144,4,8388608,1)");
  CASE1(right_inverse(a), "(4,2,6):(2,1,32)", "(2,4,4,6):(4,1,0,8)");
  CASE1(right_inverse(a), "Sw<1,0,-2> o (4,4):(4,1)", "Sw<1,0,2> o (4,4):(4,1)");
  CASE1(left_inverse(a), "(2,4):(0,1)", "4:2");
  CASE1(left_inverse(a), "(16,2):(1,4)", "(4,2):(1,16)");
  CASE1(left_inverse(a), "(512,128,128):(384,128,1)", "(128,3,160):(65536,512,1)");
  CASE1(nullspace(a), "16:35", "(7,5,16):(3,1,0)");
}

TEST(AlgebraCases, Divide) {
  CASE2(logical_divide(a, b), "(((2,3),3),2):(((3,12),1),36)", "(6,6):(1,12)", "(6,3):(3,1)");
  CASE2(logical_divide(a, b), "((4,8),2):((16,1),8)", "(8,8):(8,1)", "32:2");
  CASE1(zipped_divide(a, tiler("3:3"_layout, "(2,4):(1,8)"_layout)),
        "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))", "(9,(4,8)):(59,(13,1))");
  CASE1(tiled_divide(a, tiler(4, 2)), "((4,2),2,3):((6,1),24,2)", "(8,6):(6,1)");
  CASE1(flat_divide(a, tiler(4, 2)), "(4,2,2,3):(6,1,24,2)", "(8,6):(6,1)");
  CASE2(flat_divide(a, b), "(4,2,6):(12,6,1)", "(8,6):(6,1)", "4:2");
  CASE1(zipped_divide(a, tiler(4, 2)), "((4,2),(2,3,3)):((6,1),(24,2,48))", "(8,6,3):(6,1,48)");
  static_assert(zipped_divide("(_,_):(1@1,1)"_layout, tiler(128, 64)) ==
                "((128,64),(_,_)):((1@1,1),(128@1,64))"_layout);
  static_assert(zipped_divide(identity(dyn, dyn), tiler(128, 64)) ==
                "((128,64),(_,_)):((1@1,1@2),(128@1,64@2))"_layout);
}

TEST(AlgebraCases, Product) {
  CASE2(logical_product(a, b), "((2,2),(2,3)):((4,1),(2,8))", "(2,2):(4,1)", "6:1");
  CASE2(logical_product(a, b), "(3,((4,2),8)):(32,((8,96),1))", "3:32", "(8,8):(8,1)");
  CASE2(blocked_product(a, b), "((2,3),(5,4)):((5,10),(1,30))", "(2,5):(5,1)", "(3,4):(1,3)");
  CASE2(raked_product(a, b), "((3,2),(4,5)):((10,5),(30,1))", "(2,5):(5,1)", "(3,4):(1,3)");
  CASE1(logical_product(a, tiler(3, 4)), "((2,3),(8,(2,2))):((1,2),(2,(1,16)))", "(2,8):(1,2)");
  CASE2(tile_to_shape(a, b), "(32,(8,8)):(8,(1,256))", "(8,8):(8,1)", "(32,64)");
  CASE2(tile_to_shape(a, b), "((8,4),(8,8)):((8,512),(1,64))", "(8,8):(8,1)", "(32,64):(64,1)");
  CASE2(tile_to_shape(a, b), "Sw<3,0,3> o (32,(8,8),3):(8,(1,256),2048)", "Sw<3,0,3> o (8,8):(8,1)",
        "(32,64,3)");
}

TEST(AlgebraCases, Recast) {
  CASE1(upcast(a, 4), "(8,8):(1,8)", "(32,8):(1,32)");
  CASE1(downcast(a, 2), "(16,4):(1,16)", "(8,4):(1,8)");
  CASE1(recast(a, 8, 32), "(8,8):(1,8)", "(32,8):(1,32)");
  CASE1(recast(a, 6, 8), "(12,4):(1,12)", "(16,4):(1,16)");
  CASE1(upcast(a, 8), "Sw<3,0,3> o (8,8):(8,1)", "Sw<3,3,3> o (8,64):(64,1)");
  CASE1(downcast(a, 8), "Sw<3,3,3> o (8,64):(64,1)", "Sw<3,0,3> o (8,8):(8,1)");
}

TEST(AlgebraCases, Common) {
  static_assert(domain_distribute("((64,3),(8,8))"_layout, 128) == "(64,2):(1,192)"_layout);
  static_assert(domain_distribute("((6,3),(8,8))"_layout, 16) == "(2,8):(1,18)"_layout);
  static_assert(max_common_vector("(4,3):(1,8)"_layout, "(4,6):(1,4)"_layout) == 4);
  static_assert(max_common_vector("(8,8):(8,1)"_layout, "(8,8):(8,1)"_layout) == 64);
  static_assert(max_common_vector("(8,8):(8,1)"_layout, "(8,8):(1,8)"_layout) == 1);
  static_assert(max_common_vector("Sw<3,3,3> o (8,64):(64,1)"_layout, "(8,64):(64,1)"_layout) == 8);
  static_assert(max_common_layout("(8,8):(8,1)"_layout, "(8,8):(8,1)"_layout) ==
                "(8,8):(8,1)"_layout);
}

}  // namespace
}  // namespace tw
