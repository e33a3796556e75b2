// What the banks of shared memory make of an access: in one wavefront each bank delivers one word,
// to all lanes that want it.
#pragma once

#include "src/layout_tool/access.h"

namespace tw::layout_tool {

int bank_of(std::int64_t offset, int element_bytes, const SharedMemory& memory);

// The words that a phase wants from one bank, each with the first lane that wants it.
struct WantedWord {
  std::int64_t word;
  int lane;
};
using WantedWords = std::vector<WantedWord>;

// For each bank; a phase takes as many wavefronts as its busiest bank has words.
std::vector<WantedWords> words_by_bank(const Grid& grid, const Access& access, const Phase& phase);

struct Conflicts {
  std::int64_t phases = 0;
  std::int64_t wavefronts = 0;  // sum over all phases
  int fewest = 0;               // wavefronts of a phase
  int most = 0;
  std::size_t worst_phase = 0;  // the first that takes `most`

  bool is_free() const { return most <= 1; }
};

Conflicts count_conflicts(const Grid& grid, const Access& access);

// "no conflict" or "8-way conflict", and a sentence with the numbers.
std::string verdict(const Conflicts& conflicts);
std::string describe(const Access& access, const Conflicts& conflicts);

}  // namespace tw::layout_tool
