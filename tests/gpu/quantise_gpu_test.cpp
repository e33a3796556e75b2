// The quantising kernels on the GPU against the host, bit by bit; and how fast they go through
// memory beside a copy.
#include "src/matmul/gpu.h"
#include "tests/families/quantise_problems.h"
#include "tests/gpu/on_device.h"

namespace tw::tests {
namespace {

std::vector<const QuantiseInstance*> instances_here() {
  std::vector<const QuantiseInstance*> here;
  for (const QuantiseInstance& instance : quantise_instances()) {
    if (runs_here(instance.target)) here.push_back(&instance);
  }
  return here;
}

void expect_right(const QuantiseInstance& instance, const QuantiseShape& shape, Fill fill,
                  std::uint64_t seed) {
  const std::string line = run_line(instance, shape, fill, seed);
  VerifiedQuantise problem(shape, fill, seed);
  MatmulData nothing;
  OnDevice device(nothing);
  QuantiseData& data = problem.data;
  for (HostMatrix* matrix : {&data.source, &data.elements, &data.scales}) device.add(*matrix);
  const QuantiseProblem given =
      quantise_at(data, shape, [&](HostMatrix& matrix) { return device.address(matrix); });
  const Status status = instance.launch(given, nullptr);
  ASSERT_TRUE(status.is_good()) << line << "\n" << status.sentence();
  wait_or_exit(line);
  device.read(data.elements);
  device.read(data.scales);
  const Comparison comparison = compare(data, problem.expected);
  ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
}

TEST(QuantiseGpu, IsTheHostsBitByBit) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  Random random(base_seed());
  for (int i = 0; i < 150; ++i) {
    for (const QuantiseInstance* instance : instances_here()) {
      expect_right(*instance, random_shape(*instance, random), fills[i % 4],
                   base_seed() + static_cast<std::uint64_t>(i));
      if (HasFatalFailure()) return;
    }
  }
}

// Several tiles for every CTA: sets of maxima are used again and again.
TEST(QuantiseGpu, QuantisesALargeMatrix) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  for (const QuantiseInstance* instance : instances_here()) {
    QuantiseShape shape;
    shape.m = 3001;
    shape.k = 7168;
    shape.scale_rows = instance->scale_rows;
    expect_right(*instance, shape, Fill::Normal, base_seed());
    if (HasFatalFailure()) return;
  }
}

class Timer {
 public:
  Timer() {
    must(cudaEventCreate(&begin_));
    must(cudaEventCreate(&end_));
  }
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  // Of one of `count` calls.
  template <class Call>
  double microseconds(int count, const Call& call) {
    must(cudaEventRecord(begin_));
    for (int i = 0; i < count; ++i) call(i);
    must(cudaEventRecord(end_));
    must(cudaEventSynchronize(end_));
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1000.0 * static_cast<double>(milliseconds) / count;
  }

 private:
  cudaEvent_t begin_, end_;
};

// Nothing is judged: printed beside a copy of as many bytes in all, both over buffers that together
// are larger than the L2, in turns.
TEST(QuantiseGpu, PrintsItsBandwidthBesideACopy) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  constexpr int buffers = 4, rounds = 5, calls = 20;
  for (const auto& [m, k] : {std::pair<std::int64_t, std::int64_t>{8192, 8192},
                             {4096, 7168},
                             {16384, 16384},
                             {64, 7168}}) {
    const auto elements = static_cast<std::size_t>(m * k);
    void* allocated = nullptr;
    const std::size_t bytes = elements * 4;  // of a buffer: source, elements, scales
    must(cudaMalloc(&allocated, buffers * bytes));
    must(cudaMemset(allocated, 0x3f, buffers * bytes));
    auto* const memory = static_cast<unsigned char*>(allocated);
    for (const QuantiseInstance* instance : instances_here()) {
      QuantiseProblem problem;
      problem.m = m;
      problem.k = k;
      problem.scale_rows = instance->scale_rows;
      problem.source_pitch = problem.elements_pitch = k;
      problem.scales_pitch = problem.k_blocks();
      const auto quantise = [&](int i) {
        unsigned char* const buffer = memory + static_cast<std::size_t>(i % buffers) * bytes;
        problem.source = buffer;
        problem.elements = buffer + 2 * elements;
        problem.scales = reinterpret_cast<float*>(buffer + 3 * elements);
        ASSERT_TRUE(instance->launch(problem, nullptr).is_good());
      };
      const std::size_t moved =
          3 * elements + 4 * static_cast<std::size_t>(problem.scale_lines() * problem.k_blocks());
      const auto copy = [&](int i) {
        unsigned char* const buffer = memory + static_cast<std::size_t>(i % buffers) * bytes;
        must(cudaMemcpyAsync(buffer + 2 * elements, buffer, moved / 2, cudaMemcpyDeviceToDevice));
      };
      Timer timer;
      quantise(0);
      wait_or_exit(instance->name);
      double best = 1e30, best_copy = 1e30;
      for (int round = 0; round < rounds; ++round) {
        best = std::min(best, timer.microseconds(calls, quantise));
        best_copy = std::min(best_copy, timer.microseconds(calls, copy));
      }
      std::printf("%-24s %6lld x %5lld bf16 -> e4m3: %8.1f us, %5.0f GB/s; copy %8.1f us; %.2f\n",
                  instance->name, static_cast<long long>(m), static_cast<long long>(k), best,
                  static_cast<double>(moved) / best / 1000.0, best_copy, best_copy / best);
    }
    must(cudaFree(allocated));
  }
}

}  // namespace
}  // namespace tw::tests
