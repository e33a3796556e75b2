// CDNA has no prefetch without a destination.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw::isa {

TW_DEVICE void prefetch_global(const void*) {}

}  // namespace tw::isa
