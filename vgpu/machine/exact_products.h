// Whether products of wgmma are added up as an H200 does.
#pragma once

namespace tw::vgpu {

// While one lives, this thread's virtual GPUs take wgmma_m64_exact for wgmma_m64: it is slower, and
// sums of fp8 lose the digits that the hardware does not keep.
class ExactProducts {
 public:
  ExactProducts() { ++alive; }
  ~ExactProducts() { --alive; }
  ExactProducts(const ExactProducts&) = delete;
  ExactProducts& operator=(const ExactProducts&) = delete;

  static bool are_asked_for() { return alive > 0; }

 private:
  static inline thread_local int alive = 0;
};

}  // namespace tw::vgpu
