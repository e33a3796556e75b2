// Ends a run whose kernel the model has lost sight of: a thread that runs on without an
// instruction, or one whose stack overflows. Without it the first would hang for ever, and the
// second would take the process down without a name.
#pragma once

#include <ctime>

namespace tw::vgpu {

class Engine;

// While it lives, the calling std::thread gets a signal after every `seconds` of its own processor
// time (0: none), and one when it touches the guard below a stack; both go to the engine. Signals
// of others reach the handlers that were there before.
class Watch {
 public:
  Watch(Engine& engine, unsigned seconds);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  timer_t timer_;
  bool has_timer_ = false;
  bool has_stack_ = false;
};

}  // namespace tw::vgpu
