#include "src/library/device.h"
#include "src/library/failure.h"

namespace tw::library {

namespace {

constexpr const char* sentence =
    "This library was built without CUDA; tw_matmul_simulate runs its kernels on the virtual GPU.";

class NoGpu : public Gpu {
 public:
  bool is_there() const override { return false; }
  Device current() const override { throw Failure{TW_CUDA, sentence}; }
  Status clear(void*, std::size_t, void*) const override { return Status::refused(sentence); }
  void* counters_of_capture(std::size_t, void*) const override { return nullptr; }
  Status exchange_capture_mode(int&) const override { return Status::refused(sentence); }
};

}  // namespace

const Gpu& cuda() {
  static const NoGpu none;
  return none;
}

}  // namespace tw::library
