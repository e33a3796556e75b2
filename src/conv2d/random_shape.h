// Random convolutions for an instance: the same for tests, the fuzzer and the GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "src/conv2d/task.h"

namespace tw::conv2d {

using Random = std::mt19937_64;
inline std::int64_t between(Random& random, std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
}

// Kernel 1 to 7, stride 1 to 3, padding 0 to 3 on each side, dilation 1 to 3, any size that is
// left.
inline Conv2dAxis random_axis(Random& random) {
  Conv2dAxis axis;
  axis.filter = between(random, 1, random() % 3 == 0 ? 7 : 3);
  axis.stride = between(random, 1, 3);
  axis.dilation = between(random, 1, 3);
  axis.pad_low = between(random, 0, 3);
  axis.pad_high = between(random, 0, 3);
  const std::int64_t least =
      std::max<std::int64_t>(1, axis.reach() + 1 - axis.pad_low - axis.pad_high);
  axis.extent = between(random, least, least + 16);
  return axis;
}

inline Conv2dShape shape_for(const Conv2dInstance& instance) {
  Conv2dShape shape;
  shape.type = instance.config.tiling.a_type;
  shape.d_type = instance.config.d_type;
  shape.direction = direction_of(instance.config);
  return shape;
}

inline MatmulOrder order_for(const Conv2dInstance& instance, std::uint64_t seed) {
  MatmulOrder order;
  if (instance.config.split == Split::Parts) order.split_k = static_cast<int>(1 + seed % 4);
  return order;
}

// The fewest channels that TMA takes.
inline std::int64_t piece_of(const Conv2dShape& shape) { return 16 / bytes_of(shape.type); }

// What is loaded by threads has any channels, in groups, and steps beyond those of TMA.
inline void make_groups(Conv2dShape& shape, Random& random) {
  const std::int64_t most = shape.h.filter * shape.w.filter > 9 ? 12 : 40;
  const std::int64_t few = between(random, 1, most);  // of a group
  // By cp.async, or element by element; one of each: depthwise.
  const std::int64_t channels = random() % 4 == 0   ? 1
                                : random() % 2 == 0 ? piece_of(shape) * few
                                                    : few;
  shape.groups = random() % 2 == 0 ? 1 : between(random, 2, 5);
  shape.c = channels * shape.groups;
  shape.k = between(random, 1, shape.groups == 1 ? 140 : 40) * shape.groups;
  const bool in_phases = shape.direction == Conv2dDirection::BackwardData;
  const auto stride = [&] { return in_phases ? between(random, 4, 8) : between(random, 9, 12); };
  if (random() % 4 == 0) shape.h.stride = stride();
  if (random() % 4 == 0) {
    shape.w.pad_low = between(random, 129, 140);
    shape.w.stride = stride();
  }
}

// Each channel for itself; shapes for which there is code of their own come often.
inline void make_depthwise(Conv2dShape& shape, Random& random) {
  shape.c = random() % 3 == 0 ? between(random, 1, 150) : 8 * between(random, 1, 20);
  shape.groups = shape.c;
  shape.k = shape.c * (random() % 4 == 0 ? between(random, 2, 3) : 1);
  if (random() % 2 == 0) return;
  shape.w.filter = 3 + 2 * between(random, 0, 2);
  shape.w.stride = between(random, 1, 2);
  shape.w.dilation = 1;
  shape.w.extent += shape.w.reach();
  if (shape.w.filter == 3) {
    shape.h.extent += 2 * shape.h.dilation;
    shape.h.filter = 3;
  }
}

// TMA brings groups that share a tile where they fill a k-tile together.
inline bool takes_full_tiles_of_groups(const Conv2dInstance& instance) {
  return instance.spans_groups && !instance.by_threads;
}
inline void make_full_tiles_of_groups(Conv2dShape& shape, std::int64_t channels, std::int64_t tiles,
                                      std::int64_t filters) {
  shape.groups = tiles * (64 / channels);
  shape.c = tiles * 64;
  shape.k = shape.groups * filters;
}

inline Conv2dShape random_shape(const Conv2dInstance& instance, Random& random) {
  Conv2dShape shape = shape_for(instance);
  shape.h = random_axis(random);
  shape.w = random_axis(random);
  // Channels of less than a k-tile, of one, of several, and of several and a bit.
  shape.c = piece_of(shape) * between(random, 1, shape.h.filter * shape.w.filter > 9 ? 10 : 20);
  const bool forward = shape.direction == Conv2dDirection::Forward;
  shape.k = forward ? between(random, 1, 140) : piece_of(shape) * between(random, 1, 17);
  if (instance.depthwise) {
    make_depthwise(shape, random);
  } else if (takes_full_tiles_of_groups(instance)) {
    const std::int64_t channels = std::int64_t{2} << between(random, 0, 4);
    make_full_tiles_of_groups(shape, channels, between(random, 1, 3), between(random, 1, channels));
  } else if (instance.by_threads) {
    make_groups(shape, random);
  } else if (shape.direction != Conv2dDirection::BackwardFilter && random() % 4 == 0) {
    shape.groups = 2;  // TMA takes groups of whole k-tiles
    shape.c = 2 * instance.config.tiling.k();
    shape.k = 2 * between(random, 1, 70);
    if (!forward) {
      shape.k = shape.c;
      shape.c = 2 * piece_of(shape) * between(random, 1, 9);
    }
  }
  // Of what is made of them.
  const std::int64_t pixels = shape.direction == Conv2dDirection::BackwardData
                                  ? shape.h.extent * shape.w.extent
                                  : shape.h.outputs() * shape.w.outputs();
  shape.n = between(random, 1, std::max<std::int64_t>(1, 400 / pixels));
  shape.epilogue.column_bias = random() % 2 == 0;
  const bool stages_groups = instance.config.c_stages != 0 && shape.groups > 1;
  if (random() % 3 == 0 && !stages_groups) {
    shape.epilogue.beta = 1.0f;
    shape.epilogue.source_type = shape.d_type;
  }
  if (random() % 3 == 0) shape.epilogue.activation = Activation::Relu;
  return shape;
}

}  // namespace tw::conv2d
