// Blockwise FP8: matmul with scales of blocks of 128 of k (bind/scaled_by.h), which have a ring of
// their own for a pair of CTAs (bind/scaled_apart.h), and which the tensor core takes where they
// are powers of two (bind/scaled_by_exponents.h).
#pragma once

#include "tilewright/bind/scaled_by.h"
#include "tilewright/isa/has_amdgcn.h"
#include "tilewright/isa/has_ptx.h"
#if TW_HAS_AMDGCN
#include "tilewright/bind/halves_scaled_by.h"
#endif
#if TW_HAS_PTX
#include "tilewright/bind/scaled_apart.h"
#include "tilewright/bind/scaled_by_exponents.h"
#endif

namespace tw {

using BlockwiseConfig = MatmulConfig;
template <class Page, class Recipe, class Named>
using Blockwise = Kernel<Page, Recipe, Named>;

}  // namespace tw
