// Loops that do nothing but look: who comes back to an instruction without having done anything
// that the machine saw may sleep until it finds something else, so that what it waits for can land.
#pragma once

#include "vgpu/machine/engine.h"
#include "vgpu/ptx/run/frame.h"

namespace tw::vgpu::ptx {

inline bool polls(const Frame& frame, const Step& step) {
  return frame.polled == &step && frame.polled_time == engine().current().time;
}
inline void note_poll(Frame& frame, const Step& step, std::uint64_t value) {
  frame.polled = &step;
  frame.polled_value = value;
  frame.polled_time = engine().current().time;
}

}  // namespace tw::vgpu::ptx
