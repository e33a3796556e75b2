// Branches and ends.
#include <fmt/format.h>

#include "vgpu/machine/engine.h"
#include "vgpu/ptx/run/form_table.h"
#include "vgpu/ptx/run/launch.h"

namespace tw::vgpu::ptx {
namespace {

void branch(Frame& frame, const Step& step) { frame.next = step.target; }

void leave(Frame& frame, const Step&) {
  frame.next = static_cast<std::uint32_t>(frame.body->steps.size());
}
void exit(Frame& frame, const Step& step) {
  frame.exits = true;
  leave(frame, step);
}

void trap(Frame&, const Step&) {
  Engine& machine = engine();
  machine.report(Checker::Exception, -1, "trap",
                 [&] { return "The " + who(machine.current()) + " executes trap."; });
  machine.abandon();
}

// brx.idx index, table.
void branch_to_one(Frame& frame, const Step& step) {
  const Table& table = frame.body->function->tables[step.target];
  const auto index = get<std::uint32_t>(frame, step.slots[0]);
  if (index < table.targets.size()) {
    frame.next = table.targets[index].index;
    return;
  }
  Engine& machine = engine();
  machine.report(Checker::Bounds, -1, "brx", [&] {
    return fmt::format("The {} branches to label {} of a list of {}.", who(machine.current()),
                       index, table.targets.size());
  });
  machine.abandon();
}

}  // namespace

void add_flow(FormTable& table) {
  table.add("bra", "L", branch);
  table.add("bra.uni", "L", branch);
  for (const char* const name : {"ret", "ret.uni"}) table.add(name, "", leave);
  table.add("exit", "", exit);
  table.add("trap", "", trap);
  for (const char* const name : {"brx.idx", "brx.idx.uni"}) table.add(name, "4T", branch_to_one);
}

}  // namespace tw::vgpu::ptx
