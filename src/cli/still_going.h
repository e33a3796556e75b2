// A command that takes long says every few seconds how far it is.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace tw::cli {

// "about 3 min left": of work that took so long for `done` of `total` parts; "" where none is done.
std::string time_left(double seconds, double done, double total);

// While it lives, stderr gets a line every five seconds: what `state` says, which another thread
// asks.
class StillGoing {
 public:
  using State = std::function<std::string(double seconds)>;
  explicit StillGoing(State state,
                      std::chrono::milliseconds interval = std::chrono::milliseconds(5000));
  // "WHAT, 20 s so far".
  explicit StillGoing(const std::string& what);

 private:
  std::jthread thread_;
};

}  // namespace tw::cli
