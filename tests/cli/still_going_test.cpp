// A command that takes long says how far it is, and nothing when it is over.
#include "src/cli/still_going.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

namespace tw::cli {
namespace {

TEST(StillGoing, EstimatesTheRestFromWhatIsDone) {
  EXPECT_EQ(time_left(10, 5, 20), ", about 30 s left");
  EXPECT_EQ(time_left(100, 1, 4), ", about 5 min left");
  EXPECT_EQ(time_left(10, 0, 20), "");
}

TEST(StillGoing, SpeaksWhileItLives) {
  std::atomic<int> asked = 0;
  testing::internal::CaptureStderr();
  {
    const StillGoing still_going(
        [&](double seconds) { return fmt::format("{} of 9, {:.1f} s", ++asked, seconds); },
        std::chrono::milliseconds(5));
    while (asked < 3) std::this_thread::yield();
  }
  const int last = asked;
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("tw: 1 of 9, 0."), std::string::npos) << said;
  EXPECT_NE(said.find("tw: 3 of 9, "), std::string::npos) << said;
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(asked, last);
}

TEST(StillGoing, LeavesQuickCommandsAlone) {
  testing::internal::CaptureStderr();
  { const StillGoing still_going("running"); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tw::cli
