// Options of whole numbers: of one, and of several with commas between them, as in --sizes 70,0,1.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace tw::cli {

// Whether `text` is such a list. (CLI11's delimiter takes 1,,2 for 1,2.)
template <class Number>
bool read_number_list(std::vector<Number>& numbers, std::string_view text) {
  std::vector<Number> read;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    Number number;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, number);
    if (error != std::errc() || rest != text.data() + end) return false;
    read.push_back(number);
    begin = end + 1;
  }
  numbers = std::move(read);
  return true;
}

// `number` has what holds unless the option is given, and outlives the command. One that does not
// fit is refused as it was given, with the range that callers check. (CLI11 takes the largest.)
inline CLI::Option* add_number(CLI::App& command, const std::string& name, std::int64_t& number,
                               const std::string& meaning, std::int64_t low, std::int64_t high) {
  const auto take = [&number, name, low, high](const CLI::results_t& given) {
    const std::string& text = given[0];
    std::int64_t read = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    const bool is_number = rest == text.data() + text.size() && !text.empty();
    if (is_number && error == std::errc::result_out_of_range) {
      throw CLI::ValidationError(
          fmt::format("{} is {}, but must be between {} and {}.", name, text, low, high));
    }
    if (!is_number || error != std::errc()) {
      throw CLI::ValidationError(
          fmt::format("{} is '{}', but must be a whole number.", name, text));
    }
    number = read;
    return true;
  };
  return command.add_option(name, take, meaning)
      ->type_name("INT")
      ->default_str(std::to_string(number));
}

// `numbers` has what holds unless the option is given, and outlives the command. At most `most`
// numbers are taken; where `may_be_none`, the word none is a list without any.
template <class Number>
void add_number_list(CLI::App& command, const std::string& name, std::vector<Number>& numbers,
                     const std::string& meaning, std::size_t most = 1 << 16,
                     bool may_be_none = false) {
  const auto take = [&numbers, name, most, may_be_none](const CLI::results_t& given) {
    std::vector<Number> read;
    const bool is_none = may_be_none && given[0] == "none";
    if (!is_none && !read_number_list(read, given[0])) {
      throw CLI::ValidationError(
          fmt::format("{} is '{}', but must be whole numbers with a comma between two of them.",
                      name, given[0]));
    }
    if (read.size() > most) {
      throw CLI::ValidationError(
          fmt::format("{} has {} numbers, but must have at most {}.", name, read.size(), most));
    }
    numbers = std::move(read);
    return true;
  };
  command.add_option(name, take, meaning)
      ->type_name("INT,...")
      ->default_str(fmt::format("{}", fmt::join(numbers, ",")));
}

}  // namespace tw::cli
