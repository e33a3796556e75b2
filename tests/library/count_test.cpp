// Problems with more tiles than kernels count: the dispatcher refuses them, before any launch, also
// where their number is beyond 64 bits.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tilewright.h"

namespace tw::tests {
namespace {

constexpr std::int64_t power(int bits) { return std::int64_t{1} << bits; }

// Far enough from the next for every matrix here; nobody reads what lies there.
void* place(int i) { return reinterpret_cast<void*>(std::uintptr_t(i + 1) << 60); }

tw_matmul_options with_instance(const char* name) {
  tw_matmul_options options;
  tw_matmul_init(nullptr, &options);
  options.instance = name;
  return options;
}

tw_matmul_problem product(std::int64_t m, std::int64_t n, std::int64_t k, tw_type type) {
  tw_matmul_problem problem;
  tw_matmul_init(&problem, nullptr);
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a = {place(0), k, 1, 0, type};
  problem.b = {place(1), 1, k, 0, type};
  problem.d = {place(2), n, 1, 0, TW_BF16};
  return problem;
}

void expect_uncountable(tw_status status, const std::string& verb) {
  const std::string message = tw_message();
  EXPECT_EQ(status, TW_UNSUPPORTED) << message;
  EXPECT_EQ(message.rfind("No compiled kernel " + verb, 0), 0u) << message;
  EXPECT_NE(message.find(" tiles"), std::string::npos) << message;
}

TEST(TooManyTiles, Matmul) {
  const tw_matmul_problem problem = product(power(30), power(28), 64, TW_BF16);
  const tw_matmul_options options = with_instance("coop_128x256_1x1");
  expect_uncountable(tw_matmul_simulate(&problem, &options), "computes");
}

// 2^39 tiles of 2^25 steps: their product is beyond 64 bits.
TEST(TooManyTiles, Stream) {
  const tw_matmul_problem problem = product(power(27), power(27), power(31) - 512, TW_BF16);
  const tw_matmul_options options = with_instance("hopper_stream");
  expect_uncountable(tw_matmul_simulate(&problem, &options), "computes");
}

// 2^64 tiles, which are none in 64 bits.
TEST(TooManyTiles, Grouped) {
  tw_grouped_problem problem;
  tw_grouped_init(&problem, nullptr);
  problem.matmul = product(power(30), power(28), 64, TW_BF16);
  problem.matmul.batch = power(21);
  problem.rows = static_cast<const std::int32_t*>(place(3));
  const tw_matmul_options options = with_instance("grouped_128x256");
  expect_uncountable(tw_grouped_simulate(&problem, &options), "computes");
}

TEST(TooManyTiles, Blockwise) {
  tw_blockwise_problem problem;
  tw_blockwise_init(&problem, nullptr);
  problem.matmul = product(power(28), power(28), 128, TW_E4M3);
  problem.a_scales = {place(3), power(28), 1, 1, 1, 0, TW_FP32};
  problem.b_scales = {place(4), power(21), 1, 1, 1, 0, TW_FP32};
  const tw_matmul_options options = with_instance("blockwise_128x96");
  expect_uncountable(tw_blockwise_simulate(&problem, &options), "computes");
}

TEST(TooManyTiles, Conv2d) {
  tw_conv2d_problem problem;
  tw_conv2d_init(&problem, nullptr);
  problem.n = power(30);
  problem.c = 64;
  problem.k = power(27);
  problem.image = place(0);
  problem.filter = place(1);
  problem.d = place(2);
  const tw_matmul_options options = with_instance("conv_pingpong_128");
  expect_uncountable(tw_conv2d_simulate(&problem, &options), "computes");
}

TEST(TooManyTiles, Quantise) {
  tw_quantise_problem problem;
  tw_quantise_init(&problem, nullptr);
  problem.m = power(30);
  problem.k = power(28);
  problem.source = {place(0), power(28), 1, 0, TW_BF16};
  problem.elements = {place(1), power(28), 1, 0, TW_E4M3};
  problem.scales = {place(2), power(21), 1, 0, TW_FP32};
  const tw_matmul_options options = with_instance("quantise_rows");
  expect_uncountable(tw_quantise_simulate(&problem, &options), "quantises");
}

}  // namespace
}  // namespace tw::tests
