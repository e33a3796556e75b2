// TMA descriptors of images for the virtual GPU.
#pragma once

#include "tilewright/base/status.h"
#include "tilewright/launch/tensor_map.h"
#include "vgpu/data/tile_map.h"

namespace tw {

inline Status encode_im2col_for_virtual(TensorMap& map, const Im2colBox& box) {
  vgpu::TileMap tile_map{};
  tile_map.base = const_cast<void*>(box.base);
  tile_map.element_bytes = bytes_of(box.type);
  tile_map.rank = box.rank;
  for (unsigned d = 0; d < box.rank; ++d) {
    tile_map.extents[d] = static_cast<std::uint64_t>(box.extents[d]);
  }
  for (unsigned d = 0; d + 1 < box.rank; ++d) {
    tile_map.pitch_bytes[d] = static_cast<std::uint64_t>(box.pitch_bytes[d]);
  }
  tile_map.box[0] = box.box_channels;
  tile_map.swizzle = static_cast<vgpu::MapSwizzle>(box.swizzle);
  tile_map.im2col.pixels = box.box_pixels;
  for (unsigned i = 0; i + 2 < box.rank; ++i) {
    tile_map.im2col.lower[i] = box.lower[i];
    tile_map.im2col.upper[i] = box.upper[i];
    tile_map.im2col.steps[i] = box.step[i + 1];
  }
  if (Status status = vgpu::check(tile_map); !status.is_good()) return status;
  map = vgpu::encode(tile_map);
  return Status::good();
}

}  // namespace tw
