// Blockwise FP8 with a quantised D on the virtual GPU against the host, bit by bit.
#include <gtest/gtest.h>

#include "tests/families/requantised_problems.h"
#include "tests/families/schedule.h"

namespace tw::tests {
namespace {

void expect_exact(const RequantisedInstance& instance, const RequantisedShape& shape, Fill fill,
                  std::uint64_t seed) {
  const VirtualRun run =
      run_virtually(instance, VerifiedRequantised(shape, fill, seed), schedule(seed));
  ASSERT_TRUE(run.clean()) << run_line(instance, shape, fill, seed) << "\n" << run.complaint();
}

TEST(Requantised, QuantisesRandomProductsExactlyOnTheVirtualGpu) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  const char* count = std::getenv("TW_REQUANTISED_PROBLEMS");
  const int problems = count != nullptr ? std::atoi(count) : 200;
  for (int i = 0; i < problems; ++i) {
    const auto instances = requantised_instances();
    const RequantisedInstance& instance = instances[static_cast<std::size_t>(i) % instances.size()];
    expect_exact(instance, random_shape(instance, random),
                 i % 3 == 2 ? Fill::Position : Fill::Integers,
                 base_seed() + static_cast<std::uint64_t>(i));
    if (HasFatalFailure()) return;
  }
}

TEST(Requantised, NothingIsTouchedWhereThereIsNothing) {
  for (const RequantisedInstance& instance : requantised_instances()) {
    RequantisedShape shape = shape_for(instance);
    shape.product.matmul.batch = 0;
    expect_exact(instance, shape, Fill::Integers, 1);
    shape.product.matmul.batch = 1;
    shape.product.matmul.m = 0;
    expect_exact(instance, shape, Fill::Integers, 1);
  }
}

// D and its scales are A and its scales of the next product: as two kernels in a row, against both
// on the host.
TEST(Requantised, FeedsTheNextProduct) {
  for (const RequantisedInstance& instance : requantised_instances()) {
    RequantisedShape shape = shape_for(instance);
    MatmulShape& first = shape.product.matmul;
    first.m = 150;
    first.n = 256;
    first.k = 256;
    shape.rule = BlockScale::power_of_two;
    const VerifiedRequantised problem(shape, Fill::Integers, 7);
    RequantisedData data = problem.data;
    const auto here = [](HostMatrix& matrix) { return matrix.data(); };
    vgpu::Report report;
    Status status = instance.simulate(requantised_at(data, shape, here), {}, schedule(3), report);
    ASSERT_TRUE(status.is_good()) << status.sentence();

    // The next layer: A is D, m by 256; as many columns again.
    RequantisedShape next_shape = shape;
    RequantisedData next = make_requantised_data(next_shape, Fill::Integers, 8);
    RequantisedData on_host = next;
    next.product.matmul.a = data.product.matmul.d;
    next.product.a_scales = data.scales;
    on_host.product.matmul.a = problem.expected.product.matmul.d;
    on_host.product.a_scales = problem.expected.scales;
    const MatmulReference reference = direct_product(on_host.product, next_shape.product);
    status = instance.simulate(requantised_at(next, next_shape, here), {}, schedule(4), report);
    ASSERT_TRUE(status.is_good()) << status.sentence();
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << instance.name;
    for (std::int64_t row = 0; row < first.m; ++row) {
      for (std::int64_t column = 0; column < first.n; ++column) {
        const auto index = static_cast<std::size_t>(row * first.n + column);
        const double found =
            next.product.matmul.d.at(0, row, column) * next.scales.at(0, row, column / 128);
        // Half of the last place of e4m3 with a scale of up to twice what is needed, and float32.
        double amax = 0.0;
        for (std::int64_t i = column / 128 * 128; i < column / 128 * 128 + 128; ++i) {
          amax = std::max(amax,
                          std::abs(reference.d[static_cast<std::size_t>(row * first.n + i)].value));
        }
        const double value = reference.d[index].value;
        ASSERT_NEAR(found, value, std::abs(value) / 16 + amax / 448 / 256 + amax * 1e-5)
            << instance.name << " at " << row << ", " << column;
      }
    }
  }
}

TEST(Requantised, RefusesWithASentence) {
  const RequantisedInstance& instance = requantised_instances()[0];
  const auto refusal = [&](const auto& change) {
    RequantisedShape shape = shape_for(instance);
    shape.product.matmul.m = 20;
    shape.product.matmul.n = 300;
    shape.product.matmul.k = 64;
    RequantisedData data = make_requantised_data(shape, Fill::Integers, 1);
    RequantisedProblem problem =
        requantised_at(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
    change(problem);
    vgpu::Report report;
    return instance.simulate(problem, {}, schedule(1), report).sentence();
  };
  using P = RequantisedProblem;
  EXPECT_EQ(refusal([](P&) {}), "");
  EXPECT_EQ(refusal([](P& p) { p.scales = nullptr; }), "The address of the scales of D is null.");
  EXPECT_EQ(refusal([](P& p) { p.pitch = 2; }),
            "The pitch of the scales of D is 2 elements, but its lines have 3.");
  EXPECT_EQ(refusal([](P& p) { p.product.matmul.d.type = ElementType::Bf16; }),
            "D has type bf16, but what is quantised again is e4m3.");
  EXPECT_EQ(refusal([](P& p) { p.product.matmul.epilogue.output_scale = 2.0f; }),
            "output_scale is 2.000000, but must be 1: the scales of D are made from its values.");
  EXPECT_EQ(
      refusal([](P& p) { p.product.matmul.epilogue.gated = true; }),
      "The epilogue has a gate, but a block of 128 columns of D would then be spread over two "
      "tiles: quantise apart.");
}

}  // namespace
}  // namespace tw::tests
