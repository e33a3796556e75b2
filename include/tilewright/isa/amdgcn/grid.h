// Grids of CDNA start one after the other.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw::isa {

TW_DEVICE void griddepcontrol_wait() {}
TW_DEVICE void griddepcontrol_launch_dependents() {}

}  // namespace tw::isa
