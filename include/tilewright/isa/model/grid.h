// What the virtual GPU must implement for isa/ptx/grid.h. It runs one grid at a time, so there is
// never an earlier one to wait for.
#pragma once

#include "tilewright/isa/model.h"

#if TW_MODELLED
namespace tw::model {

void griddepcontrol_wait();
void griddepcontrol_launch_dependents();

}  // namespace tw::model
#endif
