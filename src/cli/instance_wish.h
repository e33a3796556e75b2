// What a request says of an instance that multiplies, as options of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "src/instances/instance.h"
#include "src/instances/names.h"

namespace tw::cli {

// Empty strings say nothing.
struct InstanceWish {
  std::string tile, cluster, consumers;

  void add_options(CLI::App& command);
  // Throws Refused where there can be no such.
  void check() const;
  // What the instance has in place of what is wished: "--tile 128x256"; empty: nothing else.
  std::string obstacle(const InstanceWords& has) const;
  // ", --tile '128x256'": what is wished.
  std::string words() const;
};

// Instances that do not take a problem, and why.
struct Obstacle {
  const Instance* instance;
  std::string sentence;
  unsigned count;  // instances with this obstacle; the sentence is the first one's
};
// How many options "--tile 128x256 --cluster 2x1" names.
unsigned options_in(const std::string& words);
// "No instance serves WHAT. The nearest:" and up to five of them; or what keeps all of them from
// it.
std::string nothing_serves(const std::string& what, std::vector<Obstacle> obstacles);

}  // namespace tw::cli
