// CDNA3, as requantised products use it: two waves multiply, of which each has whole blocks of a
// row. Sums of 128 columns and what becomes of them take more registers than two waves of a SIMD
// have: there is one.
#pragma once

#include "tilewright/arch/gfx942.h"

namespace tw {

struct Gfx942Rows : Gfx942 {
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = MfmaOp<tiling, WarpGrid{2, 1}, stage_bytes, Cdna::Three, true>;
  template <auto config, class Trace>
  using Store = DirectStore<config.d_type, Trace, 128>;

  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    Gfx942::roles(config);
    return RoleTable{.load = {0, 2}, .multiply = {2, 2}}.checked();
  }
};

}  // namespace tw
