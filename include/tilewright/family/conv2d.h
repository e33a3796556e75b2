// Convolution: D[n,p,q,k] = epilogue(sum over r,s,c of A[n,h,w,c] * B[k,r,s,c]), NHWC and KRSC,
// with h = p * stride + r * dilation - pad, w alike. It is matmul with another loader: D is a
// matrix of n * p * q rows and k columns. Which operands are MN-major tells the direction: none,
// forward; B, backward data; both, backward filter.
#pragma once

#include "tilewright/family/conv2d_groups.h"
#include "tilewright/family/matmul.h"
#include "tilewright/family/pixel_store.h"
#include "tilewright/family/thread_page.h"
#include "tilewright/io/im2col.h"
#include "tilewright/io/im2col_copy.h"

namespace tw {

constexpr bool is_backward_data(const MatmulConfig& config) {
  return config.a_major == Major::K && config.b_major == Major::MN;
}

// Backward data stores what all phases make as one image.
template <class ArchPage>
struct PixelPage : ArchPage {
  template <auto config, class Trace,
            class Plain = typename ArchPage::template Store<config, Trace>>
  using Store = std::conditional_t<is_backward_data(config), PixelStore<Plain>, Plain>;
};

// A page of arch/ that loads by TMA, with im2col in its place.
template <class ArchPage>
struct Im2colPage : PixelPage<ArchPage> {
  template <Tiling tiling, RoleTable>
  using Loader = Im2colLoader<tiling>;
  using OutputOfFilter = GroupedColumns;
};

// Any page of arch/, with im2col by four warps in its loader's place.
template <class ArchPage>
using Im2colCopies = ThreadPage<ArchPage, Im2colCopyLoader>;
template <class ArchPage>
struct Im2colPage<Im2colCopies<ArchPage>> : PixelPage<Im2colCopies<ArchPage>> {
  using OutputOfFilter = GroupedRows;
};

template <class ArchPage, class Named>
struct Conv2d : Matmul<Im2colPage<ArchPage>, Named> {
  using Page = Im2colPage<ArchPage>;
  using Base = Matmul<Page, Named>;
  static constexpr MatmulConfig config = Base::config;
  static constexpr bool in_phases = is_backward_data(config);
  static_assert(!in_phases || config.split == Split::Whole, "Sums of phases differ in length.");
  using View =
      std::conditional_t<in_phases, PixelView,
                         std::conditional_t<config.a_major == Major::MN,
                                            typename Page::OutputOfFilter, GroupedColumns>>;
  using Epilogue = FragmentLoop<GroupedEpilogue<View>, typename Base::Store>;
  using Map = std::conditional_t<in_phases, PhaseTiles<typename Base::Map>, typename Base::Map>;
  using Schedule = typename Base::template ScheduleOf<config.scheduling, Page, Map>::Type;
};
template <class ArchPage, class Named>
using Conv2dKernel = kernel::WarpSpecialized<Conv2d<ArchPage, Named>>;

}  // namespace tw
