// A program with families of its own: ./program run|check|fuzz|trace|bench|list FAMILY, and
// explain INSTANCE.
#pragma once

#include "src/instances/make_instance.h"
#include "src/verify/trial_of.h"

namespace tw {

// The exit status: 0 good, 1 wrong or found, 2 bad request.
int command_line(std::span<const Trial* const> trials, int argc, char** argv);

template <class... Family>
int command_line(int argc, char** argv) {
  static const Trial trials[] = {trial_of<Family>()...};
  const Trial* pointers[sizeof...(Family)];
  for (std::size_t i = 0; i < sizeof...(Family); ++i) pointers[i] = trials + i;
  return command_line(pointers, argc, argv);
}

}  // namespace tw
