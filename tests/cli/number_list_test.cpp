// Lists of numbers on a command line: every number is taken, and nothing else is.
#include "src/cli/number_list.h"

#include <gtest/gtest.h>

namespace tw::cli {
namespace {

std::string parsed(std::vector<std::string> words, std::vector<std::int32_t>& numbers) {
  CLI::App app;
  add_number_list(app, "--sizes", numbers, "rows of each group");
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(NumberList, TakesWhatIsWritten) {
  std::vector<std::int32_t> numbers = {70, 0};
  EXPECT_EQ(parsed({}, numbers), "");
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{70, 0}));
  EXPECT_EQ(parsed({"--sizes", "1,-2,300"}, numbers), "");
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{1, -2, 300}));
  EXPECT_EQ(parsed({"--sizes=5"}, numbers), "");
  EXPECT_EQ(numbers, std::vector<std::int32_t>{5});
}

TEST(NumberList, RefusesHolesAndWords) {
  for (const char* text : {"1,,2", ",1", "1,", ",", "1;2", "1, 2", "two", "1.5", "4294967296"}) {
    std::vector<std::int32_t> numbers = {7};
    const std::string sentence = parsed({"--sizes", text}, numbers);
    EXPECT_NE(sentence.find(fmt::format("--sizes is '{}', but must be whole numbers", text)),
              std::string::npos)
        << text << ": " << sentence;
    EXPECT_EQ(numbers, std::vector<std::int32_t>{7}) << text;
  }
}

// A number is refused as it is written, not as the largest that 64 bits hold.
TEST(NumberList, OneNumberIsTakenWholeOrRefused) {
  const auto with = [](const char* text, std::int64_t& number) -> std::string {
    CLI::App app;
    add_number(app, "--m", number, "rows", 0, 65536);
    try {
      app.parse(std::vector<std::string>{text, "--m"});
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "";
  };
  for (const std::int64_t right : {std::int64_t{0}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
    std::int64_t number = 7;
    EXPECT_EQ(with(std::to_string(right).c_str(), number), "");
    EXPECT_EQ(number, right);
  }
  for (const char* const text : {"99999999999999999999", "-9223372036854775809"}) {
    std::int64_t number = 7;
    EXPECT_NE(
        with(text, number).find(fmt::format("--m is {}, but must be between 0 and 65536.", text)),
        std::string::npos);
    EXPECT_EQ(number, 7);
  }
  for (const char* const text : {"many", "1.5", "0x10", "1e3", "99999999999999999999x"}) {
    std::int64_t number = 7;
    EXPECT_NE(
        with(text, number).find(fmt::format("--m is '{}', but must be a whole number.", text)),
        std::string::npos);
    EXPECT_EQ(number, 7);
  }
}

// So that a line can repeat a problem without groups.
TEST(NumberList, MayBeNone) {
  for (const bool may_be_none : {true, false}) {
    CLI::App app;
    std::vector<std::int64_t> numbers = {7};
    add_number_list(app, "--sizes", numbers, "", 3, may_be_none);
    const auto parse = [&] { app.parse(std::vector<std::string>{"none", "--sizes"}); };
    if (may_be_none) {
      EXPECT_NO_THROW(parse());
      EXPECT_TRUE(numbers.empty());
    } else {
      EXPECT_THROW(parse(), CLI::ValidationError);
    }
  }
}

TEST(NumberList, CountsThem) {
  CLI::App app;
  std::vector<std::int64_t> numbers;
  add_number_list(app, "--stride", numbers, "", 3);
  try {
    app.parse(std::vector<std::string>{"1,2,3,4", "--stride"});
    FAIL() << "four numbers were taken";
  } catch (const CLI::ParseError& error) {
    EXPECT_STREQ(error.what(), "--stride has 4 numbers, but must have at most 3.");
  }
}

}  // namespace
}  // namespace tw::cli
