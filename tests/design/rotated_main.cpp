// The commands of ./tw for the family alone: in src/ all_trials() would have it with the others.
#include "src/cli/command_line.h"

namespace tw {
extern const Trial rotated_trial;
}

int main(int argc, char** argv) {
  const tw::Trial* const trials[] = {&tw::rotated_trial};
  return tw::command_line(trials, argc, argv);
}
