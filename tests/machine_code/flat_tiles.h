// What both flat kernels are told, and which tile comes when.
#pragma once

#include "flat_output.h"
#include "tilewright/io/divisor.h"

namespace flat {

struct Params {
  int tiles_m;  // in clusters
  int tiles_n;
  int batches;
  int k_tiles;
  int last_row;
  int last_column;
  unsigned weights_are_constant;
  std::uint16_t group;
  std::uint16_t raster;  // 0: m is swept first within a group
  tw::Quotient of_band;
  tw::Quotient of_width;
  tw::Quotient of_last_width;
  tw::Quotient in_batch;
  int m;
  int splits;  // 1
  tw::Quotient in_all;
  tw::Divisor parts;

  tw::TensorMap a;  // (k, m, batch), box of 64 by 128
  tw::TensorMap b;  // (k, n, batch), box of 64 by 128
  Output output;
};

struct Tile {
  int m;
  int n;
  int batch;
};

__device__ __forceinline__ Tile tile_at(const Params& params, int index, unsigned rank) {
  const int in_batch = params.tiles_m * params.tiles_n;
  const int batch = params.in_batch.of(index);
  const int of_batch = index - batch * in_batch;
  const bool along_m = params.raster == 0;
  const int fast = along_m ? params.tiles_m : params.tiles_n;
  const int slow = along_m ? params.tiles_n : params.tiles_m;
  const int band_size = params.group * slow;
  const int band = params.of_band.of(of_batch);
  const int first = band * params.group;
  const int in_band = of_batch - band * band_size;
  const bool is_last = fast - first < params.group;
  const int width = is_last ? fast - first : params.group;
  const int slow_index = (is_last ? params.of_last_width : params.of_width).of(in_band);
  const int fast_index = first + in_band - slow_index * width;
  return {(along_m ? fast_index : slow_index) * 2 + static_cast<int>(rank),
          along_m ? slow_index : fast_index, batch};
}

__device__ __forceinline__ int first_row(const Params& params, const Tile& tile) {
  const int own = tile.m * 128;
  return own < params.last_row ? own : params.last_row;
}

__device__ __forceinline__ int first_column(const Params& params, const Tile& tile) {
  const int own = tile.n * 256;
  return own < params.last_column ? own : params.last_column;
}

}  // namespace flat
