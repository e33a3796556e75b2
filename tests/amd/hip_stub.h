// What the recording HIP library of the tests tells of a launch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tw::tests {

struct StubLaunch {
  std::string function;
  unsigned ctas, threads, shared_bytes;
  std::vector<std::byte> arguments;
  struct Memory {
    void* begin;
    std::size_t bytes;
  };
  std::vector<Memory> allocated;
  void* stream;
};

// Symbol stub_executor of the library: called with each launch, where it is set.
using StubExecutor = void (*)(const StubLaunch&);
// Symbol stub_clearings, an int: how often memory was cleared on a stream.

}  // namespace tw::tests
