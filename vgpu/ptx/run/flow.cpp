// Branches and ends.
#include "vgpu/machine/engine.h"
#include "vgpu/ptx/run/form_table.h"
#include "vgpu/ptx/run/launch.h"

namespace tw::vgpu::ptx {
namespace {

void branch(Frame& frame, const Step& step) { frame.next = step.target; }

void end(Frame& frame, const Step&) {
  frame.next = static_cast<std::uint32_t>(frame.running->code->steps.size());
}

void trap(Frame&, const Step&) {
  Engine& machine = engine();
  machine.report(Checker::Exception, -1, "trap",
                 [&] { return "The " + who(machine.current()) + " executes trap."; });
  machine.abandon();
}

}  // namespace

void add_flow(FormTable& table) {
  table.add("bra", "L", branch);
  table.add("bra.uni", "L", branch);
  for (const char* const name : {"ret", "ret.uni", "exit"}) table.add(name, "", end);
  table.add("trap", "", trap);
}

}  // namespace tw::vgpu::ptx
