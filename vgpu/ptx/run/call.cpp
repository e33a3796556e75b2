#include "vgpu/ptx/run/call.h"

#include <fmt/format.h>

#include "vgpu/machine/engine.h"
#include "vgpu/ptx/run/launch.h"
#include "vgpu/ptx/run/spaces.h"

namespace tw::vgpu::ptx {
namespace {

template <class T>
T argument(const Frame& frame, Slot slot) {
  T value;
  load_local(frame, &value, get<std::uint64_t>(frame, slot), sizeof value);
  return value;
}

[[noreturn]] void fail_assertion(const Frame& frame, const Slot* arguments) {
  const std::string message = text_at(frame, argument<std::uint64_t>(frame, arguments[0]));
  const std::string file = text_at(frame, argument<std::uint64_t>(frame, arguments[1]));
  const auto line = argument<std::uint32_t>(frame, arguments[2]);
  const std::string function = text_at(frame, argument<std::uint64_t>(frame, arguments[3]));
  Engine& machine = engine();
  machine.report(Checker::Exception, -1, "assert", [&] {
    return fmt::format("The {} fails the assertion '{}' of {} ({}:{}).", who(machine.current()),
                       message, function, file, line);
  });
  machine.abandon();
}

// Functions without a body, which the driver has.
void call_system(Frame& frame, const Function& function, const CallShape& shape,
                 const Slot* parameters) {
  if (function.name == "vprintf" && shape.results == 1 && shape.arguments == 2) {
    frame.running->print(printed(frame, argument<std::uint64_t>(frame, parameters[1]),
                                 argument<std::uint64_t>(frame, parameters[2])));
    const std::int32_t result = 0;
    store_local(frame, get<std::uint64_t>(frame, parameters[0]), &result, sizeof result);
    return;
  }
  if (function.name == "__assertfail" && shape.results == 0 && shape.arguments == 5) {
    fail_assertion(frame, parameters);
  }
  stop_incomplete(frame, ("calls " + function.name + ", which has no model,").c_str());
}

const Function& callee_at(const Module& module, std::uint64_t address, std::uint32_t& index) {
  index = static_cast<std::uint32_t>(address - function_begin);
  if (address >= function_begin && address - function_begin < module.functions.size()) {
    return module.functions[index];
  }
  Engine& machine = engine();
  machine.report(Checker::Bounds, -1, "call", [&] {
    return fmt::format("The {} calls the address {:#x}, where no function is.",
                       who(machine.current()), address);
  });
  machine.abandon();
}

}  // namespace

void call(Frame& frame, const Step& step) {
  const CallShape shape = CallShape::of(step.detail);
  const Code& code = *frame.running->code;
  const Slot* parameters = step.slots;
  const std::uint64_t address =
      shape.is_indirect ? get<std::uint64_t>(frame, *parameters++) : function_begin + step.target;
  std::uint32_t index = 0;
  const Function& function = callee_at(*code.module, address, index);
  const Body* const body = code.bodies[index].get();
  if (body == nullptr) return call_system(frame, function, shape, parameters);
  if (!function.by_register.empty() || function.results != shape.results ||
      function.parameters != shape.results + shape.arguments) {
    stop_incomplete(frame, "passes other parameters than the function takes, which has no model");
  }
  frame.running->call(frame, *body, parameters);
}

}  // namespace tw::vgpu::ptx
