// Kernels of ours from their PTX: the same bits as from their C++, and the same verdict.
#include "tests/ptx/kernels.h"

#include <map>
#include <random>
#include <regex>

#include "tests/ptx/compiled.h"
#include "tests/ptx/support.h"
#include "vgpu/simulate.h"

namespace tw::vgpu::ptx {
namespace {

constexpr Landing landings[] = {Landing::Eager, Landing::Lazy, Landing::Random,
                                Landing::Adversarial};

// The PTX of a kernel; empty where there is no nvcc.
std::string compiled(const char* name, const char* skeleton, const char* architecture) {
  if (nvcc().empty()) return "";
  return ptx_of(std::string(TW_SOURCE_FOLDER) + "/tests/ptx/kernels.cu", architecture,
                std::string("-DTWICE=") + name + " -DSKELETON=" + skeleton);
}

// The same, made once for all tests.
const std::string& text_of_kernel(const char* name, const char* skeleton,
                                  const char* architecture) {
  static std::map<std::string, std::string> known;
  const auto [text, is_new] = known.try_emplace(name);
  if (is_new) text->second = compiled(name, skeleton, architecture);
  return text->second;
}

// A module with one entry, ready to run.
class Entry {
 public:
  explicit Entry(const std::string& text) : module_(read(text)) {
    if (!module_.status.is_good()) return;
    for (const Function& function : module_.value->functions) {
      if (function.is_entry) code_ = prepare(*module_.value, function.name);
    }
  }
  std::string trouble() const { return module_.status.sentence() + code_.status.sentence(); }
  const Code& code() const { return *code_.value; }

 private:
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

template <class Kernel>
class Product {
 public:
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  static constexpr const KernelNeeds& needs = needs_of<Kernel, Skeleton>;

  explicit Product(const LaunchOrder& order, const Options& options) : options_(options) {
    problem_.m = m, problem_.n = n, problem_.k = k;
    problem_.a = {a_.data(), k, 0, ElementType::Bf16, Major::K};
    problem_.b = {b_.data(), k, 0, ElementType::Bf16, Major::K};
    problem_.d = {d.data(), n, 0, ElementType::Bf16};
    poison(d);
    const unsigned max_clusters = options.sm_count / Kernel::config.tiling.cluster.size();
    room_.resize(workspace_bytes<Kernel>(problem_, order, max_clusters) / 8 + 1);
    const Workspace workspace = {room_.data(), room_.size() * 8};
    planned =
        plan<Kernel>(params_, grid_, problem_, order, max_clusters, workspace, encode_for_virtual);
  }
  Report run_direct() const {
    return vgpu::run(
        {grid_.ctas, needs.cluster_size, needs.threads, needs.shared_bytes,
         [this] { Skeleton::run(params_); }, needs.lanes, needs.dependent_launch, needs.registers},
        memory(), options_);
  }
  Report run_ptx(const Code& code) const {
    Request request;
    request.grid.x = grid_.ctas;
    request.block.x = needs.threads;
    request.cluster.x = needs.cluster_size;
    request.dynamic_shared = needs.shared_bytes;
    request.parameters = bytes_of_params(params_);
    request.dependent_launch = needs.dependent_launch;
    request.registers = needs.registers;
    return run(code, request, memory(), options_);
  }

  static constexpr std::int64_t m = 100, n = 72, k = 520;
  Status planned = Status::good();
  std::vector<Bf16> d = std::vector<Bf16>(m * n);

 private:
  std::vector<GlobalRange> memory() const {
    TouchedMemory touched(problem_);
    const std::size_t counters = std::min(room_.size() * 8, workspace_counter_bytes);
    touched.add({room_.data(), counters, "counters", true, true});
    touched.add({room_.data() + counters / 8, room_.size() * 8 - counters, "parts", false, true});
    return touched.ranges();
  }

  Options options_;
  std::vector<Bf16> a_ = small_numbers(m * k, 1), b_ = small_numbers(n * k, 2);
  MatmulProblem problem_;
  MatmulGrid grid_ = {};
  std::vector<std::uint64_t> room_;
  typename Skeleton::Params params_{};
};

template <class Kernel>
void product_twice(const char* name, const char* architecture, const LaunchOrder& order = {}) {
  const std::string& text = text_of_kernel(name, "WarpSpecialized", architecture);
  if (text.empty()) GTEST_SKIP() << "there is no nvcc";
  const Entry entry(text);
  ASSERT_EQ(entry.trouble(), "");
  for (const Landing landing : landings) {
    Options options;
    options.landing = landing;
    const Product<Kernel> direct(order, options), from_ptx(order, options);
    ASSERT_TRUE(direct.planned.is_good()) << direct.planned.sentence();
    const Report expected = direct.run_direct();
    ASSERT_EQ(expected.verdict(), Report::Clean) << text_of(expected);
    const Report report = from_ptx.run_ptx(entry.code());
    ASSERT_EQ(report.verdict(), Report::Clean) << text_of(report);
    EXPECT_EQ(std::memcmp(direct.d.data(), from_ptx.d.data(), 2 * direct.d.size()), 0);
  }
}

// The text with one instruction left out wherever it stands, or replaced.
std::string without(std::string text, const std::string& instruction, const std::string& instead) {
  const std::regex pattern("\\b" + instruction + "[^;]*;");
  return std::regex_replace(text, pattern, instead);
}

// What is missing in the text of a product for Hopper, and what the virtual GPU says.
struct Planted {
  const char* instruction;
  const char* instead;
  Checker checker;
};
class PtxPlanted : public ::testing::TestWithParam<Planted> {};

TEST_P(PtxPlanted, IsFound) {
  using Kernel = twice::SmallWgmma;
  const std::string& text = text_of_kernel("SmallWgmma", "WarpSpecialized", "sm_90a");
  if (text.empty()) GTEST_SKIP() << "there is no nvcc";
  const std::string changed = without(text, GetParam().instruction, GetParam().instead);
  ASSERT_NE(changed, text);
  const Entry entry(changed);
  ASSERT_EQ(entry.trouble(), "");
  std::string said;
  for (const Landing landing : landings) {
    Options options;
    options.landing = landing;
    const Report report = Product<Kernel>({}, options).run_ptx(entry.code());
    for (const Finding& finding : report.findings) {
      if (finding.checker == GetParam().checker) return;
    }
    said += text_of(report);
  }
  FAIL() << "no " << name_of(GetParam().checker) << " in:\n" << said;
}

INSTANTIATE_TEST_SUITE_P(
    Products, PtxPlanted,
    ::testing::Values(Planted{"wgmma\\.wait_group", "", Checker::AccumulatorInFlight},
                      Planted{"wgmma\\.fence", "", Checker::MissingWgmmaFence},
                      Planted{"fence\\.proxy\\.async", "", Checker::MissingProxyFence},
                      Planted{"cp\\.async\\.bulk\\.wait_group", "", Checker::InFlightAtExit},
                      Planted{"mbarrier\\.arrive\\.release", "", Checker::Deadlock},
                      Planted{"mbarrier\\.arrive\\.expect_tx[^_]*_, (\\[[^\\]]*\\]),",
                              "mbarrier.arrive.release.cta.shared::cta.b64 _, $1;",
                              Checker::TransactionBytes},
                      Planted{"mbarrier\\.try_wait\\.parity\\.shared::cta\\.b64 p,",
                              "setp.eq.u32 p, 0, 0;", Checker::ReadBeforeFull},
                      Planted{"fence\\.mbarrier_init", "", Checker::BarrierLife},
                      Planted{"griddepcontrol\\.wait", "", Checker::EarlyAccess}));

TEST(PtxKernels, ProductForHopper) { product_twice<twice::SmallWgmma>("SmallWgmma", "sm_90a"); }
TEST(PtxKernels, TensorPair) { product_twice<twice::TensorPair>("TensorPair", "sm_100a"); }

}  // namespace
}  // namespace tw::vgpu::ptx
