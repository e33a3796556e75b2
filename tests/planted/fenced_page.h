// A target that no page of arch/ is: on Hopper, threads copy what the tensor core reads, so that
// their writes need a proxy fence.
#pragma once

#include "tilewright/arch/sm90.h"
#include "tilewright/io/thread_loader.h"

namespace tw::planted_pages {

struct FencedCopies : Sm90 {
  template <Tiling tiling, RoleTable roles>
  using Loader = ThreadLoader<tiling, PlainCopy, roles.load.warps, Completion::WarpsArriveFenced>;
};

}  // namespace tw::planted_pages
