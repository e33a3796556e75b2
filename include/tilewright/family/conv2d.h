// Convolution: D[n,p,q,k] = epilogue(sum over r,s,c of A[n,h,w,c] * B[k,r,s,c]), NHWC and KRSC,
// with h = p * stride + r * dilation - pad, w alike. It is matmul with another loader: D is a
// matrix of n * p * q rows and k columns.
#pragma once

#include "tilewright/family/matmul.h"
#include "tilewright/io/im2col.h"

namespace tw {

// A page of arch/ that loads by TMA, with im2col in its place.
template <class ArchPage>
struct Im2colPage : ArchPage {
  template <Tiling tiling, RoleTable>
  using Loader = Im2colLoader<tiling>;
};

template <class ArchPage, class Named>
using Conv2d = Matmul<Im2colPage<ArchPage>, Named>;
template <class ArchPage, class Named>
using Conv2dKernel = kernel::WarpSpecialized<Conv2d<ArchPage, Named>>;

}  // namespace tw
