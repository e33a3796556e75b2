#include "src/cli/instance_wish.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/cli/product_request.h"

namespace tw::cli {

void InstanceWish::add_options(CLI::App& command) {
  command.add_option("--cluster", cluster, "CTAs along m x n, e.g. 2x1; empty: any");
  command.add_option("--consumers", consumers, "cooperative or ping-pong; empty: any");
  command.add_option("--tile", tile, "m x n of a CTA's tile; empty: any");
}

void InstanceWish::check() const {
  if (!consumers.empty() && consumers != "cooperative" && consumers != "ping-pong") {
    refuse("--consumers is '{}', but must be cooperative or ping-pong.", consumers);
  }
}

std::string InstanceWish::obstacle(const InstanceWords& has) const {
  std::string found;
  const auto expect = [&](const char* option, const std::string& wanted, const std::string& value) {
    if (!wanted.empty() && wanted != value) found += fmt::format(" --{} {}", option, value);
  };
  expect("tile", tile, has.tile);
  expect("cluster", cluster, has.cluster);
  expect("consumers", consumers, has.consumers);
  return found.empty() ? "" : found.substr(1);
}

std::string InstanceWish::words() const {
  std::string text;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) text += fmt::format(", --{} '{}'", option, value);
  };
  add("tile", tile);
  add("cluster", cluster);
  add("consumers", consumers);
  return text;
}

unsigned options_in(const std::string& words) {
  unsigned count = 0;
  for (std::size_t at = 0; (at = words.find("--", at)) != std::string::npos; at += 2) ++count;
  return count;
}

std::string nothing_serves(const std::string& what, std::vector<Obstacle> obstacles) {
  const std::string& first = obstacles.front().sentence;
  if (std::all_of(obstacles.begin(), obstacles.end(),
                  [&](const Obstacle& one) { return one.sentence == first; }) &&
      !first.starts_with("--")) {
    return first;
  }
  std::stable_sort(obstacles.begin(), obstacles.end(),
                   [](const Obstacle& one, const Obstacle& two) { return one.count < two.count; });
  std::string text = fmt::format("No instance serves {}. The nearest:", what);
  for (std::size_t i = 0; i < std::min<std::size_t>(obstacles.size(), 5); ++i) {
    text += fmt::format("\n  {}: {}", obstacles[i].instance->name, obstacles[i].sentence);
  }
  return text;
}

}  // namespace tw::cli
