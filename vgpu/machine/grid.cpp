// Programmatic dependent launch. There is no other grid: nothing to wait for, nobody to start. But
// what an earlier grid may still use is touched only behind a wait: that somebody waited travels as
// any knowledge does, by barriers.
#include "tilewright/isa/model/grid.h"

#include <fmt/format.h>

#include "vgpu/machine/engine.h"
#include "vgpu/machine/global_access.h"

namespace tw::model {

void griddepcontrol_wait() {
  vgpu::Engine& machine = vgpu::engine();
  vgpu::Thread& thread = machine.enter();
  vgpu::Cluster& cluster = *thread.cta->cluster;
  const vgpu::Slot waits =
      machine.order.agent(cluster, vgpu::AgentKind::GridWaits, &cluster, cluster.grid_waits);
  machine.order.learn(thread, cluster.grids_ended, waits, vgpu::grids_have_ended);
  thread.behind_grids = true;
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
