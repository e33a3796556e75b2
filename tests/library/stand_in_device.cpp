#include "src/library/device.h"
#include "src/library/failure.h"
#include "tests/library/stand_in.h"

namespace tw::library {

Place current_device() {
  if (tests::stand_in().device < 0) throw Failure{TW_CUDA, "There is no GPU."};
  return {tests::stand_in().device, "sm90a", 132, tests::stand_in().name};
}

Status clear_memory(void* memory, std::size_t bytes, void* stream) {
  return tests::record({tests::Event::Clear, memory, bytes, stream});
}

void* counters_of_capture(std::size_t, void*) { return tests::stand_in().counters_of_capture; }

LoadsWhileCapturing::LoadsWhileCapturing() : mode_(0) {}
LoadsWhileCapturing::~LoadsWhileCapturing() = default;

}  // namespace tw::library
