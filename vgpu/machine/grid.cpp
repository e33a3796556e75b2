// Programmatic dependent launch. There is no other grid: nothing to wait for, nobody to start.
#include "tilewright/isa/model/grid.h"

#include "vgpu/machine/engine.h"

namespace tw::model {

void griddepcontrol_wait() { vgpu::engine().enter(); }
void griddepcontrol_launch_dependents() { vgpu::engine().enter(); }

}  // namespace tw::model
