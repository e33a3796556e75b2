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
using Im2colCopies = ThreadPage<ArchPage, Im2colCopyLoader>;
template <class ArchPage>
struct Im2colPage<Im2colCopies<ArchPage>> : Im2colCopies<ArchPage> {};

template <class ArchPage, class Named>
struct Conv2d : Matmul<Im2colPage<ArchPage>, Named> {
  using Base = Matmul<Im2colPage<ArchPage>, Named>;
  using Epilogue = FragmentLoop<GroupedEpilogue, typename Base::Store>;
};
template <class ArchPage, class Named>
using Conv2dKernel = kernel::WarpSpecialized<Conv2d<ArchPage, Named>>;

}  // namespace tw
