// What a program must give, as it stands in the tree: all bytes of a small output; of a large one
// its first bytes, and digests of all of it and of its blocks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::conformance {

struct Expected {
  std::size_t bytes = 0;
  std::string digest;               // empty: `first` is everything
  std::vector<std::string> blocks;  // digests
  std::vector<unsigned char> first;
};

Expected expectation(std::span<const unsigned char> output);

using ExpectedByName = std::map<std::string, Expected>;
ExpectedByName read_expected(const std::filesystem::path& file);
// In the order of the names given.
void write_expected(const std::filesystem::path& file, const std::vector<std::string>& names,
                    const ExpectedByName& expected);

// A sentence about the first difference; nothing if the output is what was expected.
std::optional<std::string> difference(const Expected& expected,
                                      std::span<const unsigned char> output);

// The arguments of both test programs.
struct Arguments {
  std::filesystem::path expected;
  std::filesystem::path dump;  // a folder for whole outputs; empty: none
  std::string only;            // programs whose name starts so
  bool write = false;
};
// Prints the usage and ends the program when it does not understand.
Arguments parse_arguments(int count, char** values, bool may_write);

void dump_output(const Arguments& arguments, const std::string& name,
                 std::span<const unsigned char> output);

}  // namespace tw::conformance
