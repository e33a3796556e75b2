// Where in the sources a finding was made, for programs that were compiled with debug information.
#pragma once

#include <array>
#include <string>

namespace tw::vgpu {

struct Frames {
  std::array<void*, 24> addresses;  // return addresses, the innermost call first
  int count = 0;
};

// The running thread's frames. The first call of a process allocates: make it outside of a fiber.
Frames current_frames();

// "io/thread_loader.h:88, called at kernel/warp_specialized.h:210": at most three lines outside of
// the instructions and their model. Empty where the program, or addr2line, has nothing to say.
std::string source_lines(const Frames& frames);

}  // namespace tw::vgpu
