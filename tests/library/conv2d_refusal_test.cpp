// What the convolutions of the C interface refuse of the axes of an image.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "tilewright.h"

namespace tw::tests {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

// What one field of an axis must be, and how the refusal begins.
struct Field {
  std::int64_t tw_conv2d_axis::*field;
  const char* name;
  bool may_be_zero;
};
constexpr Field fields[] = {{&tw_conv2d_axis::extent, "The image", false},
                            {&tw_conv2d_axis::filter, "The filter", false},
                            {&tw_conv2d_axis::stride, "The stride", false},
                            {&tw_conv2d_axis::dilation, "The dilation", false},
                            {&tw_conv2d_axis::pad_low, "The lower padding", true},
                            {&tw_conv2d_axis::pad_high, "The upper padding", true}};

struct Axis {
  tw_conv2d_axis tw_conv2d_problem::*axis;
  const char* along;
};
constexpr Axis axes[] = {{&tw_conv2d_problem::h, " along h"},
                         {&tw_conv2d_problem::w, " along w"},
                         {&tw_conv2d_problem::depth, " along the depth"}};

// In memory that nobody reads.
tw_conv2d_problem sound_problem() {
  alignas(256) static unsigned char memory[256];
  tw_conv2d_problem problem;
  tw_conv2d_init(&problem, nullptr);
  problem.c = problem.k = 64;
  problem.h = problem.w = {14, 3, 1, 1, 1, 1};
  problem.depth = {5, 3, 1, 1, 1, 1};
  problem.image = memory;
  problem.filter = memory + 64;
  problem.d = memory + 128;
  return problem;
}

// A stride is divided by: that it is refused must be decided before.
TEST(RefusalOfConv2d, EveryFieldOfEveryAxisIsCheckedBeforeItIsUsed) {
  for (const tw_direction direction : {TW_FORWARD, TW_BACKWARD_DATA, TW_BACKWARD_FILTER}) {
    for (const auto& [axis, along] : axes) {
      for (const auto& [field, name, may_be_zero] : fields) {
        for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, lowest}) {
          if (value == 0 && may_be_zero) continue;
          tw_conv2d_problem problem = sound_problem();
          problem.direction = direction;
          problem.*axis.*field = value;
          const std::string sentence =
              std::string(name) + along + " = " + std::to_string(value) + " must be from ";
          tw_conv2d_plan* plan = nullptr;
          for (const tw_status status : {tw_conv2d_supported(&problem, nullptr),
                                         tw_conv2d_plan_create(&plan, &problem, nullptr),
                                         tw_conv2d_simulate(&problem, nullptr)}) {
            EXPECT_EQ(status, TW_INVALID) << sentence;
          }
          EXPECT_EQ(std::string(tw_message()).rfind(sentence, 0), 0u) << tw_message();
        }
      }
    }
  }
}

}  // namespace
}  // namespace tw::tests
