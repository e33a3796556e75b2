#include <gtest/gtest.h>

#include <type_traits>

#include "tilewright/base/status.h"
#include "tilewright/layout/algebra.h"

namespace tw {
namespace {

template <Layout layout>
struct Carrier {};

// Equal layouts, however computed, are one type.
static_assert(std::is_same_v<Carrier<"(2,3):(1,2)"_layout>, Carrier<column_major(2, 3)>>);
static_assert(std::is_same_v<Carrier<mode("((2,3),4):((1,2),6)"_layout, 0)>,
                             Carrier<flatten(take("(2,3,4)"_layout, 0, 2))>>);
static_assert(!std::is_same_v<Carrier<"((2,3)):((1,2))"_layout>, Carrier<"(2,3):(1,2)"_layout>>);

std::string round_trip(const char* text) { return to_string(parse_layout(text)); }

TEST(LayoutText, ComesBackAsWritten) {
  for (const char* text :
       {"8:1", "1:0", "(2,3):(1,2)", "((2,2),3):((24,2),8)", "(3,(2,2)):(8,(24,2))",
        "((2,2),(3,(4,5))):((1,2),(4,(12,48)))", "((2,2)):((1,2))", "(((2,3),4),5):(((1,2),6),24)",
        "(2,4):(-1,512)", "(_,_):(1@1,1)", "((128,64),(_,_)):((1@1,1),(128@1,64))",
        "Sw<3,0,3> o (8,8):(8,1)", "Sw<1,0,-2> o (4,4):(4,1)",
        "(1,2,3,4,5,6,7,8,9,10,11,12):(1,1,1,1,1,1,1,1,1,1,1,1)"}) {
    EXPECT_EQ(round_trip(text), text);
  }
}

TEST(LayoutText, DropsWhatSaysNothing) {
  EXPECT_EQ(round_trip("(8):(1)"), "8:1");
  EXPECT_EQ(round_trip("((2),(((3,4)))):((1),(((2,6))))"), "(2,(3,4)):(1,(2,6))");
  EXPECT_EQ(round_trip(" ( 2 , 3 ) : ( 1 , 2 ) "), "(2,3):(1,2)");
  EXPECT_EQ(round_trip("(2,(3,4))"), "(2,(3,4)):(1,(2,6))");
}

TEST(LayoutText, RefusesWithASentence) {
  auto sentence = [](const char* text) {
    return attempt([&] { return parse_layout(text); }).status.sentence();
  };
  EXPECT_EQ(sentence("(2,3):(1,2"), "layout text: a parenthesis is not closed");
  EXPECT_EQ(sentence("(2,3):(1,)"), "layout text: a number is missing");
  EXPECT_EQ(sentence("(2,3):(1,(2,4))"), "layout text: extents and strides are nested differently");
  EXPECT_EQ(sentence("2:1 x"), "layout text: something follows the layout");
  EXPECT_EQ(sentence("0:1"), "layout: an extent must be positive");
  EXPECT_EQ(sentence("(1,1,1,1,1,1,1,1,1,1,1,1,1)"), "layout: it would need more than 12 leaves");
  EXPECT_EQ(sentence("Sw<3,0,2> o 8:1"), "swizzle: the shift must be at least the number of bits");
  EXPECT_EQ(sentence("99999999999999999999:1"),
            "layout: a size or stride would not fit in 64 bits");
  EXPECT_EQ(sentence("_"), "layout text: a dynamic extent needs a stride");
}

TEST(LayoutQueries, DescribeTheTree) {
  constexpr Layout layout = "((2,2),3,(4,(5,6)))"_layout;
  static_assert(rank(layout) == 3 && depth(layout) == 3 && size(layout) == 1440);
  static_assert(depth("8:1"_layout) == 0 && depth("(8,1)"_layout) == 1);
  static_assert(cosize("(4,2):(1,10)"_layout) == 14);
  EXPECT_EQ(to_string(mode(layout, 2)), "(4,(5,6)):(12,(48,240))");
  EXPECT_EQ(to_string(mode(layout, 1)), "3:4");
  EXPECT_EQ(attempt([&] { return mode(layout, 3); }).status.sentence(),
            "layout: there is no such mode");
}

TEST(LayoutQueries, RegroupTheTree) {
  constexpr Layout layout = "(2,(3,4),5)"_layout;
  EXPECT_EQ(to_string(flatten(layout)), "(2,3,4,5):(1,2,6,24)");
  EXPECT_EQ(to_string(group(layout, 0, 2)), "((2,(3,4)),5):((1,(2,6)),24)");
  EXPECT_EQ(to_string(group(layout, 1, 2)), "(2,(3,4),5):(1,(2,6),24)");
  EXPECT_EQ(to_string(group(layout, 0, 3)), "((2,(3,4),5)):((1,(2,6),24))");
  EXPECT_EQ(to_string(take(layout, 1, 3)), "((3,4),5):((2,6),24)");
  EXPECT_EQ(to_string(select(layout, 2, 0)), "(5,2):(24,1)");
  EXPECT_EQ(to_string(append(layout, "(7,8):(0,1)"_layout)),
            "(2,(3,4),5,(7,8)):(1,(2,6),24,(0,1))");
  EXPECT_EQ(to_string(concatenate("(2,3)"_layout, "(4,5)"_layout)), "(2,3,4,5):(1,2,1,4)");
  EXPECT_EQ(to_string(from_modes("2:1"_layout, "(3,4):(2,6)"_layout)), "(2,(3,4)):(1,(2,6))");
  EXPECT_EQ(to_string(column_major(4, 8, 2)), "(4,8,2):(1,4,32)");
  EXPECT_EQ(to_string(row_major(4, 8, 2)), "(4,8,2):(16,2,1)");
  EXPECT_EQ(to_string(identity(4, dyn)), "(4,_):(1@1,1@2)");
}

TEST(LayoutOffset, AgreesForAllKindsOfCoordinates) {
  constexpr Layout layout = "((2,2),3):((24,2),8)"_layout;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j) {
      std::int64_t expected = i % 2 * 24 + i / 2 * 2 + j * 8;
      EXPECT_EQ(offset(layout, i, j), expected);
      EXPECT_EQ(offset(layout, i + 4 * j), expected);
      EXPECT_EQ(offset(layout, coordinate_at(layout, i + 4 * j)), expected);
    }
  }
  EXPECT_EQ(to_string(coordinate_at(layout, 11)), "((1,1),2)");
  EXPECT_EQ(attempt([&] { return offset(layout, 1, 1, 1); }).status.sentence(),
            "offset: give one index for the whole layout or one for each mode");
}

TEST(LayoutOffset, SumsEachAxisApart) {
  constexpr Layout layout = "((128,64),(_,_)):((1@1,1),(128@1,64))"_layout;
  // Element (3, 5) of tile (2, 7): row 2 * 128 + 3 in units of the pitch, column 7 * 64 + 5.
  EXPECT_EQ(offset_on_axis(layout, leaves_of_mode(layout, 0), 1, 3 + 128 * 5), 3);
  EXPECT_EQ(offset_on_axis(layout, leaves_of_mode(layout, 0), 0, 3 + 128 * 5), 5);
  EXPECT_EQ(attempt([&] { return offset(layout, 0); }).status.sentence(),
            "offset: a stride counts in units known only at run time");
}

TEST(Swizzle, MovesBitsAndIsItsOwnInverse) {
  constexpr Layout layout = "Sw<3,0,3> o (8,8):(8,1)"_layout;
  int row_five[] = {45, 44, 47, 46, 41, 40, 43, 42};
  for (int j = 0; j < 8; ++j) EXPECT_EQ(offset(layout, 5, j), row_five[j]);
  for (Swizzle swizzle : {make_swizzle(3, 0, 3), make_swizzle(2, 4, 3), make_swizzle(3, 1, -4)}) {
    std::int64_t block = block_size(swizzle);
    for (std::int64_t i = 0; i < 4096; ++i) {
      EXPECT_EQ(swizzle(swizzle(i)), i);
      EXPECT_EQ(swizzle(i) / block, i / block);
    }
  }
}

TEST(Swizzle, StaysOutermost) {
  constexpr Layout layout = "Sw<2,0,2> o (4,4):(4,1)"_layout;
  EXPECT_EQ(to_string(composition(layout, "(2,8):(8,1)"_layout)),
            "Sw<2,0,2> o (2,(4,2)):(2,(4,1))");
  EXPECT_EQ(to_string(append(layout, "3:16"_layout)), "Sw<2,0,2> o (4,4,3):(4,1,16)");
  EXPECT_EQ(to_string(mode(layout, 0)), "Sw<2,0,2> o 4:4");
  EXPECT_EQ(to_string(composition(make_swizzle(1, 0, 1), column_major(4))), "Sw<1,0,1> o 4:1");
  EXPECT_EQ(attempt([&] { return composition(layout, layout); }).status.sentence(),
            "composition: both operands have a swizzle");
}

}  // namespace
}  // namespace tw
