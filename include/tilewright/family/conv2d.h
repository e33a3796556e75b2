// Convolution: D[n,p,q,k] = epilogue(sum over r,s,c of A[n,h,w,c] * B[k,r,s,c]), NHWC and KRSC,
// with h = p * stride + r * dilation - pad, w alike. It is matmul with another loader: D is a
// matrix of n * p * q rows and k columns. Which operands are MN-major tells the direction: none,
// forward; B, backward data; both, backward filter.
#pragma once

#include "tilewright/family/conv2d_groups.h"
#include "tilewright/family/depthwise.h"
#include "tilewright/family/matmul.h"
#include "tilewright/family/pixel_store.h"
#include "tilewright/family/thread_page.h"
#include "tilewright/io/im2col.h"
#include "tilewright/io/im2col_copy.h"

namespace tw {

constexpr bool is_backward_data(const MatmulConfig& config) {
  return config.tiling.a_major == Major::K && config.tiling.b_major == Major::MN;
}

// A page of arch/ that loads by TMA, with im2col in its place.
template <class ArchPage>
struct Im2colPage : ArchPage {
  template <Tiling tiling, RoleTable>
  using Loader = Im2colLoader<tiling>;
};

// Any page of arch/, with im2col by four warps in its loader's place.
template <class ArchPage>
using Im2colCopies = ThreadPage<ArchPage, Im2colCopyLoader>;
template <class ArchPage>
struct Im2colPage<Im2colCopies<ArchPage>> : Im2colCopies<ArchPage> {};

template <class ArchPage, class Named>
struct Conv2d : Matmul<Im2colPage<ArchPage>, Named> {
  using Base = Matmul<Im2colPage<ArchPage>, Named>;
  static constexpr MatmulConfig config = Base::config;
  using Epilogue =
      FragmentLoop<GroupedEpilogue<std::conditional_t<config.tiling.a_major == Major::MN &&
                                                          !Base::Loader::elected,
                                                      GroupedRows, GroupedColumns>>,
                   typename Base::Store>;
};
// Backward data makes an image in phases.
template <class ArchPage, class Named>
requires(is_backward_data(Named::config)) struct Conv2d<ArchPage, Named>
    : Matmul<Im2colPage<ArchPage>, Named> {
  using Base = Matmul<Im2colPage<ArchPage>, Named>;
  static constexpr MatmulConfig config = Base::config;
  static_assert(config.split == Split::Whole, "Sums of phases differ in length.");
  using Store = PixelStore<typename Base::Store>;
  using Epilogue = FragmentLoop<GroupedEpilogue<PixelView>, Store>;
  using Map = PhaseTiles<typename Base::Map, int{Base::tiling.k()}>;
  using Schedule =
      typename Base::template ScheduleOf<config.scheduling, typename Base::Arch, Map>::Type;
};

template <class ArchPage, class Named>
struct Conv2d<Depthwise<ArchPage>, Named> {
  using Arch = ArchPage;
  static constexpr MatmulConfig config = Named::config;
  using Stream = DepthwiseStream<config.tiling.a_type, config.d_type>;
  using Loader = Stream;
  static constexpr unsigned stages = 0;
};
template <class Parts>
concept DepthwiseParts = requires {
  typename Parts::Stream;
};

template <class Parts>
struct SkeletonOf {
  using Type = kernel::WarpSpecialized<Parts>;
};
template <DepthwiseParts Parts>
struct SkeletonOf<Parts> {
  using Type = kernel::Streaming<Parts>;
};
template <class ArchPage, class Named>
using Conv2dKernel = typename SkeletonOf<Conv2d<ArchPage, Named>>::Type;

}  // namespace tw
