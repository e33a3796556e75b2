// Kernels of ours from their PTX: the same bits as from their C++, and the same verdict.
#include "tests/ptx/kernels.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/ptx/support.h"
#include "vgpu/simulate.h"

namespace tw::vgpu::ptx {
namespace {

constexpr Landing landings[] = {Landing::Eager, Landing::Lazy, Landing::Random,
                                Landing::Adversarial};

// The PTX of a kernel; empty where there is no nvcc.
std::string compiled(const char* name, const char* skeleton, const char* architecture) {
  const std::string find = "command -v nvcc || command -v /usr/local/cuda/bin/nvcc";
  std::string nvcc;
  if (FILE* const pipe = popen(find.c_str(), "r")) {
    char line[512] = {};
    if (std::fgets(line, sizeof line, pipe) != nullptr) nvcc = line;
    pclose(pipe);
  }
  if (nvcc.empty()) return "";
  nvcc.erase(nvcc.find_last_not_of('\n') + 1);
  const std::string made = (std::filesystem::temp_directory_path() /
                            ("tilewright_" + std::to_string(getpid()) + "_" + name + ".ptx"))
                               .string();
  const std::string root = TW_SOURCE_FOLDER;
  const std::string command =
      nvcc + " -ptx -std=c++20 --expt-relaxed-constexpr -arch=" + architecture +
      " -DTWICE=" + name + " -DSKELETON=" + skeleton + " -I" + root + " -I" + root +
      "/include -o " + made + " " + root + "/tests/ptx/kernels.cu";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream file(made, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::filesystem::remove(made);
  return text;
}

// A module with one entry, ready to run.
class Entry {
 public:
  Entry(const char* name, const char* skeleton, const char* architecture)
      : text_(compiled(name, skeleton, architecture)) {
    if (text_.empty()) return;
    module_ = read(text_);
    if (!module_.status.is_good()) return;
    for (const Function& function : module_.value->functions) {
      if (function.is_entry) code_ = prepare(*module_.value, function.name);
    }
  }
  bool is_there() const { return !text_.empty(); }
  std::string trouble() const { return module_.status.sentence() + code_.status.sentence(); }
  const Code& code() const { return *code_.value; }

 private:
  std::string text_;
  Result<Module> module_;
  Result<Code> code_;
};

template <class Params>
std::span<const std::byte> bytes_of_params(const Params& params) {
  return {reinterpret_cast<const std::byte*>(&params), sizeof params};
}

std::vector<Bf16> small_numbers(std::size_t count, unsigned seed) {
  std::mt19937 dice(seed);
  std::vector<Bf16> values(count);
  for (Bf16& value : values) value = Bf16(static_cast<float>(static_cast<int>(dice() % 9) - 4));
  return values;
}

void poison(std::vector<Bf16>& values) {
  for (Bf16& value : values) value = Bf16::from_bits(0xffff);
}

template <class Parts>
void norm_twice(const char* name, const char* architecture) {
  const Entry entry(name, "Streaming", architecture);
  if (!entry.is_there()) GTEST_SKIP() << "there is no nvcc";
  ASSERT_EQ(entry.trouble(), "");
  using Kernel = kernel::Streaming<Parts>;
  constexpr unsigned rows = 3, k = 1000;
  const std::vector<Bf16> source = small_numbers(rows * k, 1), weight = small_numbers(k, 2);
  const std::vector<Bf16> residual = small_numbers(rows * k, 3);
  std::vector<Bf16> direct(rows * k), sum(rows * k), output(rows * k), other_sum(rows * k);
  const auto launch = [&](std::vector<Bf16>& to, std::vector<Bf16>& summed, const auto& run) {
    typename Kernel::Params params{};
    params.stream = {{source.data(), k},
                     {residual.data(), k},
                     {to.data(), k},
                     {summed.data(), k},
                     weight.data(),
                     k,
                     1e-5f,
                     ElementType::Bf16};
    params.tiles = rows;
    const std::vector<GlobalRange> memory = {
        {source.data(), 2 * source.size(), "source", true, false},
        {weight.data(), 2 * weight.size(), "weight", true, false},
        {residual.data(), 2 * residual.size(), "residual", true, false},
        {to.data(), 2 * to.size(), "output", false, true},
        {summed.data(), 2 * summed.size(), "sum", false, true}};
    return run(params, memory);
  };
  constexpr unsigned ctas = 2;
  for (const Landing landing : landings) {
    Options options;
    options.landing = landing;
    const Report expected = launch(direct, sum, [&](const auto& params, const auto& memory) {
      return simulate<Kernel>(params, ctas, memory, options);
    });
    ASSERT_EQ(expected.verdict(), Report::Clean) << text_of(expected);
    poison(output);
    poison(other_sum);
    const Report report = launch(output, other_sum, [&](const auto& params, const auto& memory) {
      Request request;
      request.grid.x = ctas;
      request.block.x = Kernel::threads;
      request.dynamic_shared = sizeof(typename Kernel::Storage);
      request.parameters = bytes_of_params(params);
      request.dependent_launch = Kernel::dependent_launch;
      return run(entry.code(), request, memory, options);
    });
    ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
    EXPECT_EQ(std::memcmp(direct.data(), output.data(), 2 * direct.size()), 0);
    EXPECT_EQ(std::memcmp(sum.data(), other_sum.data(), 2 * sum.size()), 0);
  }
}

template <class Parts>
void product_twice(const char* name, const char* architecture) {
  const Entry entry(name, "WarpSpecialized", architecture);
  if (!entry.is_there()) GTEST_SKIP() << "there is no nvcc";
  ASSERT_EQ(entry.trouble(), "");
  using Kernel = kernel::WarpSpecialized<Parts>;
  constexpr std::int64_t m = 100, n = 72, k = 136;
  const std::vector<Bf16> a = small_numbers(m * k, 1), b = small_numbers(n * k, 2);
  std::vector<Bf16> direct(m * n), output(m * n);
  MatmulProblem problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a.data(), k, 0, ElementType::Bf16, Major::K};
  problem.b = {b.data(), k, 0, ElementType::Bf16, Major::K};
  for (const Landing landing : landings) {
    Options options;
    options.landing = landing;
    problem.d = {direct.data(), n, 0, ElementType::Bf16};
    const Report expected = simulate<Parts>(problem, options);
    ASSERT_EQ(expected.verdict(), Report::Clean) << text_of(expected);

    poison(output);
    problem.d = {output.data(), n, 0, ElementType::Bf16};
    typename Kernel::Params params{};
    MatmulGrid grid = {};
    const unsigned max_clusters = options.sm_count / Parts::config.tiling.cluster.size();
    std::vector<std::uint64_t> room(workspace_bytes<Parts>(problem, {}, max_clusters) / 8 + 1);
    const Workspace workspace = {room.data(), room.size() * 8};
    const Status planned =
        plan<Parts>(params, grid, problem, {}, max_clusters, workspace, encode_for_virtual);
    ASSERT_TRUE(planned.is_good()) << planned.sentence();
    TouchedMemory touched(problem);
    touched.add({room.data(), room.size() * 8, "workspace", true, true});
    Request request;
    request.grid.x = grid.ctas;
    request.block.x = grid.threads;
    request.cluster = grid.cluster_size;
    request.dynamic_shared = grid.shared_bytes;
    request.parameters = bytes_of_params(params);
    request.dependent_launch = Parts::dependent_launch;
    request.registers = launched_registers<Parts>();
    const Report report = run(entry.code(), request, touched.ranges(), options);
    ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
    EXPECT_EQ(std::memcmp(direct.data(), output.data(), 2 * direct.size()), 0);
  }
}

TEST(PtxKernels, NormForAmpere) { norm_twice<twice::SmallNorm>("SmallNorm", "sm_80"); }
TEST(PtxKernels, NormForHopper) { norm_twice<twice::DependentNorm>("DependentNorm", "sm_90a"); }
TEST(PtxKernels, ProductForAmpere) { product_twice<twice::SmallMma>("SmallMma", "sm_80"); }
TEST(PtxKernels, ProductForHopper) { product_twice<twice::SmallWgmma>("SmallWgmma", "sm_90a"); }

}  // namespace
}  // namespace tw::vgpu::ptx
