// Convolutions with known answers, and their verified runs on the virtual GPU.
#pragma once

#include "src/conv2d/instance.h"
#include "src/matmul/virtual.h"

namespace tw {

// What is computed, without the numbers.
struct Conv2dShape {
  std::int64_t n = 1;
  std::int64_t c = 1;
  std::int64_t k = 1;
  std::int64_t groups = 1;
  Conv2dAxis h = {};
  Conv2dAxis w = {};
  ElementType type = ElementType::Bf16;
  ElementType d_type = ElementType::Bf16;
  EpilogueShape epilogue = {};
  Conv2dAxis depth = {};
  Conv2dDirection direction = Conv2dDirection::Forward;

  std::int64_t group_channels() const { return c / groups; }
  std::int64_t positions() const { return depth.filter * h.filter * w.filter; }
  std::int64_t image_pixels() const { return n * depth.extent * h.extent * w.extent; }
  std::int64_t output_pixels() const { return n * depth.outputs() * h.outputs() * w.outputs(); }
  // D as a matrix; k is what one element sums up.
  MatmulShape as_matmul() const;
  bool operator==(const Conv2dShape&) const = default;
};

// "forward", "dgrad" or "wgrad".
const char* name_of(Conv2dDirection direction);

// `a` is the image, a line of memory for each pixel; `b` is the filter, one for each k, r and s.
// Backward, D's gradient takes the place of one of them.
MatmulData make_conv2d_data(const Conv2dShape& shape, Fill fill, std::uint64_t seed);

// Straight from the definition: shares no code with the kernels.
MatmulReference direct_convolution(const MatmulData& data, const Conv2dShape& shape);

// `address` tells where a matrix's first element is: in `data` itself, or in a copy on a GPU.
Conv2dProblem conv2d_at(MatmulData& data, const Conv2dShape& shape,
                        const std::function<void*(HostMatrix&)>& address);
Conv2dProblem conv2d_on_host(MatmulData& data, const Conv2dShape& shape);

// Before there is any data: its addresses are of nothing in particular.
Conv2dProblem conv2d_anywhere(const Conv2dShape& shape);
// Why the kernel cannot compute it; good if it can.
Status supports(const Conv2dInstance& instance, const Conv2dShape& shape);

// The answer to one problem, computed once for many schedules.
struct VerifiedConv2d {
  VerifiedConv2d(const Conv2dShape& shape, Fill fill, std::uint64_t seed)
      : shape(shape),
        data(make_conv2d_data(shape, fill, seed)),
        reference(direct_convolution(data, shape)) {}
  Conv2dShape shape;
  MatmulData data;
  MatmulReference reference;
};

VirtualRun run_virtually(const Conv2dInstance& instance, const MatmulOrder& order,
                         const VerifiedConv2d& problem, const vgpu::Options& options);

// The words that repeat a run, but for its schedule: ./tw run conv2d ...
std::string run_line(const Conv2dInstance& instance, const Conv2dShape& shape, Fill fill,
                     std::uint64_t seed, const MatmulOrder& order = {});

}  // namespace tw
