// Convolution: D[n,p,q,k] = epilogue(sum over r,s,c of A[n,h,w,c] * B[k,r,s,c]), NHWC and KRSC,
// with h = p * stride + r * dilation - pad, w alike. It is matmul with another loader: D is a
// matrix of n * p * q rows and k columns. Which operands are MN-major tells the direction: none,
// forward; B, backward data; both, backward filter.
#pragma once

#include "tilewright/family/conv2d_groups.h"
#include "tilewright/family/matmul.h"
#include "tilewright/family/pixel_store.h"
#include "tilewright/io/im2col.h"
#include "tilewright/io/im2col_copy.h"

namespace tw {

// A page of arch/ that loads by TMA, with im2col in its place.
template <class ArchPage>
struct Im2colPage : ArchPage {
  template <Tiling tiling, RoleTable>
  using Loader = Im2colLoader<tiling>;
  // Backward data makes some pixels of every line, if the stride is not 1.
  template <auto config, class Trace,
            class Plain = typename ArchPage::template Store<config, Trace>>
  using Store = std::conditional_t<config.a_major == Major::K && config.b_major == Major::MN,
                                   PixelStore<Plain>, Plain>;
};

// Any page of arch/, with im2col by four warps in its loader's place.
template <class ArchPage>
struct Im2colCopies : ArchPage {
  // What TMA writes is read through the async proxy: so is then what threads write.
  template <Tiling tiling, RoleTable roles>
  using Loader = Im2colCopyLoader<tiling, roles.load.warps,
                                  ArchPage::template Loader<tiling, roles>::elected
                                      ? Completion::WarpsArriveFenced
                                      : Completion::WarpsArrive>;

  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    RoleTable table = ArchPage::roles(config);
    require(!table.schedule.played() && !table.source.played(),
            "Where threads copy, nobody asks for work or brings sources.");
    const bool fits = table.load.first_warp + 4 <= table.multiply.first_warp;
    table.load = {fits ? table.load.first_warp : table.warps(), 4, 56};
    if (table.shifts_registers()) table.multiply.registers = 224;
    return table.checked();
  }
};
template <class ArchPage>
struct Im2colPage<Im2colCopies<ArchPage>> : Im2colCopies<ArchPage> {};

template <class ArchPage, class Named>
struct Conv2d : Matmul<Im2colPage<ArchPage>, Named> {
  using Base = Matmul<Im2colPage<ArchPage>, Named>;
  using Epilogue = FragmentLoop<GroupedEpilogue, typename Base::Store>;
  static_assert(Base::Loader::stages_held < Base::stages,
                "A ring with fewer stages than are held would never let go of one.");
};
template <class ArchPage, class Named>
using Conv2dKernel = kernel::WarpSpecialized<Conv2d<ArchPage, Named>>;

}  // namespace tw
