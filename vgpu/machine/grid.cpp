// Programmatic dependent launch. There is no other grid: nothing to wait for, nobody to start. But
// a thread that waits has touched nothing before that an earlier grid may still write.
#include "tilewright/isa/model/grid.h"

#include <fmt/format.h>

#include "vgpu/machine/engine.h"

namespace tw::model {

void griddepcontrol_wait() {
  vgpu::Engine& machine = vgpu::engine();
  vgpu::Thread& thread = machine.enter();
  thread.waited_for_grids = true;
  const char* const touched = thread.touched_early;
  if (touched == nullptr) return;
  machine.report(vgpu::Checker::EarlyAccess, -1, touched, [&] {
    return fmt::format(
        "The {} touches {} and waits for earlier grids (griddepcontrol.wait) only then: they may "
        "still write it.",
        who(thread), touched);
  });
}
void griddepcontrol_launch_dependents() { vgpu::engine().enter(); }

}  // namespace tw::model
