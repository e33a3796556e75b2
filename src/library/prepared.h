// A call, up to the launch.
#pragma once

#include <functional>

#include "src/library/decisions.h"

namespace tw::library {

// The problem as the chosen kernel takes it. Before there is memory for copies they have an address
// that nobody reads.
class Stated : public Rewritten {
 public:
  Stated(const Family& family, const Checked& problem, const Choice& choice,
         std::byte* memory = reinterpret_cast<std::byte*>(alignment));
};

struct Prepared {
  Prepared(const Family& family, const void* given, const tw_options* given_options);
  // Finds the decision, or makes it.
  void decide_on(const void* given, const Device& device);

  const Family* family;
  Checked problem;
  tw_options options;
  std::int64_t instance;
  ProblemKey key;
  Decision decision;

 private:
  void log_call(const Stated& stated, const Device& device);
  void ask_workspace(const Stated& stated);
};

// Throws where a problem is not what its description says.
Checked checked_problem(const Family& family, const void* problem);

// No device, but a virtual one.
Device virtual_device(const char* target);

// Makes copies in `memory`, then calls run with what the kernel takes, until one is refused.
using Copy = std::function<Status(const TensorLines& to, const TensorLines& from)>;
using Run = std::function<Status(const Checked& placed)>;
Status behind_copies(const Family& family, const Checked& problem, const Choice& choice,
                     std::byte* memory, const Copy& copy, const Run& run);

}  // namespace tw::library
