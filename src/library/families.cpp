#include "src/library/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "src/library/described.h"
#include "src/library/failure.h"

namespace tw::library {

namespace {

// Filled while the library or a plug-in is loaded: one is written before it is counted.
constinit std::array<const Family*, most_families> registered = {};
constinit std::array<const std::vector<std::size_t>*, most_families> addresses = {};
constinit std::atomic<std::size_t> num_registered = 0;

}  // namespace

const char* Family::name() const { return description->name; }

Registered::Registered(const Family& family) { add_family(family); }

void add_family(const Family& family) {
  const std::size_t number = num_registered.load();
  registered.at(number) = &family;
  addresses[number] = new std::vector(address_words(*family.description));
  num_registered.store(number + 1, std::memory_order_release);
}

std::span<const Family* const> families() {
  return {registered.data(), num_registered.load(std::memory_order_acquire)};
}

void load_named_plugins() {
  static const Failure& wrong = *new Failure([] {
    const char* const named = std::getenv("TW_PLUGIN");
    try {
      if (named != nullptr && *named != 0) load_plugin(named);
    } catch (const Failure& failure) {
      return Failure{failure.status, "TW_PLUGIN: " + failure.sentence};
    }
    return Failure{TW_OK, ""};
  }());
  if (wrong.status != TW_OK) throw wrong;
}

std::uint64_t number_of(const Family& family) {
  const auto all = families();
  return static_cast<std::uint64_t>(std::find(all.begin(), all.end(), &family) - all.begin()) + 1;
}

const Family& family_named(const char* name) {
  if (name == nullptr) throw Failure{TW_INVALID, "The name of the family is null."};
  load_named_plugins();
  std::string names;
  for (const Family* family : families()) {
    if (std::strcmp(family->name(), name) == 0) return *family;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", family->name());
  }
  throw Failure{TW_INVALID, fmt::format("There is no family '{}'; there are {}.", name, names)};
}

const Family& family_of(const void* problem) {
  std::uint64_t head[2];  // size and family
  if (problem == nullptr) throw Failure{TW_INVALID, "The problem is null."};
  std::memcpy(head, problem, sizeof head);
  // Who has a problem of a family has seen that it was counted.
  const std::size_t count = num_registered.load(std::memory_order_relaxed);
  if (head[1] - 1 >= count) {
    load_named_plugins();  // may have kept tw_init from setting it
    throw Failure{TW_INVALID,
                  fmt::format("The family of the problem is {}, but must be from 1 to {}: tw_init "
                              "sets it.",
                              head[1], count)};
  }
  return *registered[head[1] - 1];
}

const std::vector<std::size_t>& addresses_of(const Family& family) {
  std::size_t number = 0;
  while (registered[number] != &family) ++number;
  return *addresses[number];
}

}  // namespace tw::library
