#include "tests/conformance/expected.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tw::conformance {
namespace {

constexpr std::size_t most_whole_bytes = 1024;
constexpr std::size_t first_bytes = 64;
constexpr std::size_t most_blocks = 32;
constexpr std::size_t line_bytes = 32;

// FNV-1a, finished by a mixing multiplication, because the digest of a block is cut short.
std::uint64_t digest_of(std::span<const unsigned char> bytes, std::uint64_t start) {
  std::uint64_t digest = start;
  for (unsigned char byte : bytes) digest = (digest ^ byte) * 0x100000001b3;
  return (digest ^ digest >> 32) * 0x9e3779b97f4a7c15;
}

std::string hex(std::uint64_t value, int digits) {
  char text[17];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

std::string hex(std::span<const unsigned char> bytes) {
  std::string text;
  for (unsigned char byte : bytes) text += hex(byte, 2);
  return text;
}

std::size_t block_bytes(std::size_t bytes) {
  return std::max<std::size_t>(64, (bytes + most_blocks - 1) / most_blocks);
}

[[noreturn]] void end(const std::string& sentence) {
  std::fprintf(stderr, "conformance: %s\n", sentence.c_str());
  std::exit(2);
}

}  // namespace

Expected expectation(std::span<const unsigned char> output) {
  Expected expected;
  expected.bytes = output.size();
  const bool whole = output.size() <= most_whole_bytes;
  const auto first = whole ? output : output.first(first_bytes);
  expected.first.assign(first.begin(), first.end());
  if (whole) return expected;
  expected.digest = hex(digest_of(output, 0xcbf29ce484222325), 16) +
                    hex(digest_of(output, 0x84222325cbf29ce4), 16);
  const std::size_t step = block_bytes(output.size());
  for (std::size_t at = 0; at < output.size(); at += step) {
    const auto block = output.subspan(at, std::min(step, output.size() - at));
    expected.blocks.push_back(hex(digest_of(block, 0xcbf29ce484222325) >> 32, 8));
  }
  return expected;
}

ExpectedByName read_expected(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) end("There is no file " + file.string() + ".");
  ExpectedByName all;
  Expected* current = nullptr;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "program") {
      std::string name;
      std::size_t bytes = 0;
      words >> name >> bytes;
      current = &all[name];
      current->bytes = bytes;
    } else if (current == nullptr) {
      end(file.string() + " does not start with a program.");
    } else if (word == "digest") {
      words >> current->digest;
    } else if (word == "blocks") {
      for (std::string block; words >> block;) current->blocks.push_back(block);
    } else {
      for (std::size_t at = 0; at + 1 < word.size(); at += 2) {
        const auto byte = std::strtoul(word.substr(at, 2).c_str(), nullptr, 16);
        current->first.push_back(static_cast<unsigned char>(byte));
      }
    }
  }
  return all;
}

void write_expected(const std::filesystem::path& file, const std::vector<std::string>& names,
                    const ExpectedByName& expected) {
  std::ofstream stream(file);
  for (const std::string& name : names) {
    const Expected& entry = expected.at(name);
    stream << "program " << name << ' ' << entry.bytes << '\n';
    if (!entry.digest.empty()) {
      stream << "digest " << entry.digest << '\n';
      for (std::size_t block = 0; block < entry.blocks.size(); ++block) {
        stream << (block % 8 == 0 ? "blocks " : " ") << entry.blocks[block];
        if (block % 8 == 7 || block + 1 == entry.blocks.size()) stream << '\n';
      }
    }
    const std::span<const unsigned char> first(entry.first);
    for (std::size_t at = 0; at < first.size(); at += line_bytes) {
      stream << hex(first.subspan(at, std::min(line_bytes, first.size() - at))) << '\n';
    }
  }
}

std::optional<std::string> difference(const Expected& expected,
                                      std::span<const unsigned char> output) {
  if (output.size() != expected.bytes) {
    return std::to_string(output.size()) + " bytes instead of " + std::to_string(expected.bytes);
  }
  const std::size_t count = std::min(expected.first.size(), output.size());
  std::size_t differing = 0, first = count;
  for (std::size_t at = count; at-- > 0;) {
    if (output[at] == expected.first[at]) continue;
    ++differing;
    first = at;
  }
  if (differing > 0) {
    return "first at byte " + std::to_string(first) + ": " + hex(output[first], 2) +
           " instead of " + hex(expected.first[first], 2) + "; " + std::to_string(differing) +
           " of the first " + std::to_string(count) + " bytes differ";
  }
  if (expected.digest.empty()) {
    if (count == output.size()) return std::nullopt;
    return "only " + std::to_string(count) + " bytes are expected";
  }
  const Expected found = expectation(output);
  std::size_t wrong = 0, first_block = 0;
  for (std::size_t block = found.blocks.size(); block-- > 0;) {
    if (block < expected.blocks.size() && found.blocks[block] == expected.blocks[block]) continue;
    ++wrong;
    first_block = block;
  }
  const std::size_t step = block_bytes(output.size());
  if (wrong > 0) {
    return "first in bytes " + std::to_string(first_block * step) + " to " +
           std::to_string(std::min(output.size(), (first_block + 1) * step) - 1) + "; " +
           std::to_string(wrong) + " of " + std::to_string(found.blocks.size()) + " blocks differ";
  }
  if (found.digest == expected.digest) return std::nullopt;
  return "digest " + found.digest + " instead of " + expected.digest;
}

Arguments parse_arguments(int count, char** values, bool may_write) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string option = values[i];
    const bool has_value = i + 1 < count;
    if (option == "--write" && may_write) {
      arguments.write = true;
    } else if (option == "--expected" && has_value) {
      arguments.expected = values[++i];
    } else if (option == "--dump" && has_value) {
      arguments.dump = values[++i];
    } else if (option == "--only" && has_value) {
      arguments.only = values[++i];
    } else {
      end("I do not understand " + option + ".");
    }
  }
  if (arguments.expected.empty()) {
    end(std::string("usage: --expected FOLDER [--dump FOLDER] [--only PREFIX]") +
        (may_write ? " [--write]" : ""));
  }
  if (arguments.write && !arguments.only.empty()) end("--write writes all programs.");
  if (!arguments.dump.empty()) std::filesystem::create_directories(arguments.dump);
  return arguments;
}

void dump_output(const Arguments& arguments, const std::string& name,
                 std::span<const unsigned char> output) {
  if (arguments.dump.empty()) return;
  std::ofstream stream(arguments.dump / (name + ".bin"), std::ios::binary);
  stream.write(reinterpret_cast<const char*>(output.data()),
               static_cast<std::streamsize>(output.size()));
}

}  // namespace tw::conformance
