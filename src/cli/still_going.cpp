#include "src/cli/still_going.h"

#include <fmt/format.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>

namespace tw::cli {

std::string time_left(double seconds, double done, double total) {
  if (done <= 0) return "";
  const double left = seconds * (total - done) / done;
  return left < 90 ? fmt::format(", about {:.0f} s left", left)
                   : fmt::format(", about {:.0f} min left", left / 60);
}

StillGoing::StillGoing(State state, std::chrono::milliseconds interval)
    : thread_([state = std::move(state), interval](const std::stop_token& stop) {
        using Clock = std::chrono::steady_clock;
        const auto begin = Clock::now();
        std::mutex mutex;
        std::condition_variable_any wakes;
        std::unique_lock lock(mutex);
        while (!wakes.wait_for(lock, stop, interval, [&stop] { return stop.stop_requested(); })) {
          const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
          fmt::print(stderr, "tw: {}\n", state(seconds));
        }
      }) {}

StillGoing::StillGoing(const std::string& what)
    : StillGoing(
          [what](double seconds) { return fmt::format("{}, {:.0f} s so far", what, seconds); }) {}

}  // namespace tw::cli
