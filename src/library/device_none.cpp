#include "src/library/device.h"
#include "src/library/failure.h"

namespace tw::library {

namespace {

constexpr const char* sentence =
    "This library was built without CUDA; tw_matmul_simulate runs its kernels on the virtual GPU.";

}  // namespace

Place current_device() { throw Failure{TW_CUDA, sentence}; }
Status clear_memory(void*, std::size_t, void*) { return Status::refused(sentence); }
void* counters_of_capture(std::size_t, void*) { return nullptr; }
LoadsWhileCapturing::LoadsWhileCapturing() : mode_(0) {}
LoadsWhileCapturing::~LoadsWhileCapturing() = default;

}  // namespace tw::library
