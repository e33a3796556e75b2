// Memory on the device for the convolutions that are measured.
#pragma once

#include <vector>

#include "src/bench/conv2d_case.h"

namespace tw::bench {

// Device buffers of one case: enough sets of standard-normal images, filters, biases and residuals
// that a set has left the L2 before it comes round again.
class Conv2dBuffers {
 public:
  Conv2dBuffers(const Conv2dCase& what, std::uint64_t seed);
  ~Conv2dBuffers();
  Conv2dBuffers(const Conv2dBuffers&) = delete;
  int sets() const { return static_cast<int>(base_.size()); }
  const Conv2dCase& what() const { return what_; }

  void* image(int set) const { return base_[set]; }
  void* filter(int set) const { return base_[set] + filter_at_; }
  void* bias(int set) const { return base_[set] + bias_at_; }
  void* residual(int set) const { return base_[set] + residual_at_; }
  void* d(int set) const { return base_[set] + d_at_; }
  tw_conv2d_problem problem(int set, const Conv2dEpilogue& epilogue) const;

  // D of one set, as numbers, of a large one its beginning and its end; poisons it for the next.
  std::vector<float> take_output(int set) const;

 private:
  Conv2dCase what_;
  std::size_t filter_at_, bias_at_, residual_at_, d_at_, bytes_;
  std::vector<char*> base_;
};

}  // namespace tw::bench
