// TMA descriptors for the virtual GPU.
#pragma once

#include <stdexcept>

#include "tilewright/base/status.h"
#include "tilewright/launch/tensor_map.h"
#include "vgpu/data/tile_map.h"

namespace tw {

inline Status encode_for_virtual(TensorMap& map, const MatrixBox& box) {
  vgpu::TileMap tile_map{};
  tile_map.base = const_cast<void*>(box.base);
  tile_map.element_bytes = bytes_of(box.type);
  tile_map.packed_bits = bits_in(box.type) < 8 ? bits_in(box.type) : 0;
  tile_map.rank = 3;
  tile_map.extents[0] = static_cast<std::uint64_t>(box.inner);
  tile_map.extents[1] = static_cast<std::uint64_t>(box.outer);
  tile_map.extents[2] = static_cast<std::uint64_t>(box.batch);
  tile_map.pitch_bytes[0] = static_cast<std::uint64_t>(box.pitch_bytes);
  tile_map.pitch_bytes[1] =
      static_cast<std::uint64_t>(box.batch == 1 ? box.pitch_bytes : box.batch_pitch_bytes);
  tile_map.box[0] = box.box_inner;
  tile_map.box[1] = box.box_outer;
  tile_map.box[2] = box.box_batch;
  tile_map.swizzle = static_cast<vgpu::MapSwizzle>(box.swizzle);
  if (Status status = vgpu::check(tile_map); !status.is_good()) return status;
  map = vgpu::encode(tile_map);
  return Status::good();
}

// Throws the sentence of a box that TMA does not take.
inline TensorMap map_for_virtual(const MatrixBox& box) {
  TensorMap map;
  const Status status = encode_for_virtual(map, box);
  if (!status.is_good()) throw std::invalid_argument(status.sentence());
  return map;
}

}  // namespace tw
