#include "src/library/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "src/library/checks.h"
#include "src/library/described.h"

namespace tw::library {

namespace {

// Filled while the library is loaded, and read from then on.
constinit std::array<const Family*, 64> registered = {};
constinit std::size_t num_registered = 0;

}  // namespace

Registered::Registered(const Family& family) { registered.at(num_registered++) = &family; }

std::span<const Family* const> families() { return {registered.data(), num_registered}; }

std::uint64_t number_of(const Family& family) {
  const auto all = families();
  return static_cast<std::uint64_t>(std::find(all.begin(), all.end(), &family) - all.begin()) + 1;
}

const Family& family_named(const char* name) {
  not_null(name, "name of the family");
  std::string names;
  for (const Family* family : families()) {
    if (std::strcmp(family->name(), name) == 0) return *family;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", family->name());
  }
  throw Failure{TW_INVALID, fmt::format("There is no family '{}'; there are {}.", name, names)};
}

const Family& family_of(const void* problem) {
  struct Head {
    std::size_t size;
    std::uint64_t family;
  };
  Head head;
  if (problem == nullptr) throw Failure{TW_INVALID, "The problem is null."};
  std::memcpy(&head, problem, sizeof head);
  if (head.family - 1 >= num_registered) {
    throw Failure{TW_INVALID,
                  fmt::format("The family of the problem is {}, but must be from 1 to {}: tw_init "
                              "sets it.",
                              head.family, num_registered)};
  }
  return *registered[head.family - 1];
}

const std::vector<std::size_t>& addresses_of(const Family& family) {
  // Lives as long as the process: threads may still call while it ends.
  static const auto& all = *new auto([] {
    std::vector<std::vector<std::size_t>> made;
    for (const Family* one : families()) made.push_back(address_words(*one->description));
    return made;
  }());
  return all[number_of(family) - 1];
}

}  // namespace tw::library
