// TW_PTX_KERNELS=FOLDER: every FILE.json there describes a launch of a kernel in PTX. It runs, with
// all checkers, and leaves what the description says.
//   "ptx": "gemm.ptx", "entry": "..."          the text, beside the description; the only entry
//   "grid", "block", "cluster": [2, 1, 1]      "shared": bytes     "dependent": true    "sms": 16
//   "arrays": [{"name": "A", "file": "A.bin"},
//              {"name": "D", "bytes": 4096, "expected": "D.bin", "type": "f16", "bound": 1e-3}]
//                                               a file that is also expected is written over
//   "arguments": ["A", "17", "map:A,box=64x32", "struct:0=A;8=s32:17"]   as ./tw ptx takes them
//   "explained": ["in-flight-at-exit"]          findings that the kernel is known for
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/ptx/support.h"
#include "tilewright/number/narrow_float.h"
#include "vgpu/ptx/use/described_launch.h"

namespace tw::vgpu::ptx {
namespace {

using Json = nlohmann::json;

std::string text_in(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
std::span<const std::byte> bytes_in(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

Extent extent_in(const Json& description, const char* name, Extent usual) {
  if (!description.contains(name)) return usual;
  const auto numbers = description[name].get<std::vector<unsigned>>();
  Extent extent;
  if (!numbers.empty()) extent.x = numbers[0];
  if (numbers.size() > 1) extent.y = numbers[1];
  if (numbers.size() > 2) extent.z = numbers[2];
  return extent;
}

// The element as a number.
double value_at(const std::string& type, const std::byte* bytes, std::size_t index) {
  std::uint16_t half = 0;
  float whole = 0;
  if (type == "f32") {
    std::memcpy(&whole, bytes + 4 * index, sizeof whole);
    return static_cast<double>(whole);
  }
  std::memcpy(&half, bytes + 2 * index, sizeof half);
  return static_cast<double>(type == "f16" ? static_cast<float>(Fp16::from_bits(half))
                                           : static_cast<float>(Bf16::from_bits(half)));
}

// Nothing where the array is as expected.
std::string difference(const Json& array, std::span<const std::byte> found,
                       const std::string& expected) {
  if (found.size() != expected.size()) return "other sizes";
  const std::span<const std::byte> wanted = bytes_in(expected);
  if (!array.contains("bound")) {
    const auto [at, other] = std::mismatch(found.begin(), found.end(), wanted.begin());
    return at == found.end() ? "" : "byte " + std::to_string(at - found.begin()) + " differs";
  }
  const std::string type = array.at("type");
  const double bound = array.at("bound");
  const std::size_t count = found.size() / (type == "f32" ? 4 : 2);
  for (std::size_t i = 0; i < count; ++i) {
    const double is = value_at(type, found.data(), i), should = value_at(type, wanted.data(), i);
    if (!(std::fabs(is - should) <= bound)) {
      return "element " + std::to_string(i) + " is " + std::to_string(is) + ", and not " +
             std::to_string(should);
    }
  }
  return "";
}

// What is wrong with the kernel of a description; nothing if it is clean, or explained, and right.
std::string judged(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  const Json description = Json::parse(text_in(file));
  LaunchWords words;
  words.entry = description.value("entry", "");
  words.grid = extent_in(description, "grid", {});
  words.block = extent_in(description, "block", {0, 0, 0});
  words.cluster = extent_in(description, "cluster", {0, 0, 0});
  words.shared_bytes = description.value("shared", std::size_t{0});
  words.dependent_launch = description.value("dependent", false);
  words.arguments = description.at("arguments").get<std::vector<std::string>>();
  std::vector<Array> arrays;
  for (const Json& array : description.at("arrays")) {
    const bool is_given = array.contains("file"), is_written = array.contains("expected");
    const std::string given = is_given ? text_in(folder / array.at("file").get<std::string>()) : "";
    ArrayWords about;
    about.name = array.at("name");
    about.bytes = is_given ? given.size() : array.at("bytes").get<std::size_t>();
    about.extents = {about.bytes};
    about.flow = !is_given ? Flow::Written : is_written ? Flow::Both : Flow::Read;
    arrays.emplace_back(about, bytes_in(given));
  }
  DescribedLaunch launch(text_in(folder / description.at("ptx").get<std::string>()), words,
                         std::move(arrays));
  const auto explained = description.value("explained", std::vector<std::string>());
  std::string wrong;
  for (const Landing landing : {Landing::Lazy, Landing::Random}) {
    Options options;
    options.landing = landing;
    options.sm_count = description.value("sms", options.sm_count);
    Report report = launch.run(options);
    std::erase_if(report.findings, [&](const Finding& finding) {
      return std::find(explained.begin(), explained.end(), finding.name) != explained.end();
    });
    wrong += text_of(report);
    for (const Json& array : description.at("arrays")) {
      if (!array.contains("expected")) continue;
      const std::string name = array.at("name");
      const std::string expected = text_in(folder / array.at("expected").get<std::string>());
      const std::string apart = difference(array, launch.array(name).bytes(), expected);
      if (!apart.empty()) wrong += name + ": " + apart + "\n";
    }
  }
  return wrong;
}

TEST(PtxFolder, EveryDescribedKernel) {
  const char* const folder = std::getenv("TW_PTX_KERNELS");
  if (folder == nullptr) GTEST_SKIP() << "TW_PTX_KERNELS names no folder of kernels";
  unsigned count = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    SCOPED_TRACE(file.path().string());
    EXPECT_EQ(judged(file.path()), "");
    ++count;
  }
  EXPECT_GT(count, 0u) << "there is no description in " << folder;
  std::printf("%u kernels\n", count);
}

// The runner itself: one kernel that is right, one that is not, and one with a finding.
TEST(PtxFolder, TellsRightFromWrong) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("ptx_folder_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
  };
  write("k.ptx", R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .b64 %x<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %x0, [from];
  ld.param.u64 %x1, [to];
  ld.global.u32 %r0, [%x0];
  add.u32 %r1, %r0, 1;
  st.global.u32 [%x1], %r1;
  ret;
}
)");
  write("from.bin", std::string("\x05\0\0\0", 4));
  write("to.bin", std::string("\x06\0\0\0", 4));
  const std::string begin =
      R"({"ptx": "k.ptx", "block": [1], "arguments": ["F", "T"], "arrays": [)";
  const std::string from = R"({"name": "F", "file": "from.bin"}, )";
  write("right.json", begin + from + R"({"name": "T", "bytes": 4, "expected": "to.bin"}]})");
  write("wrong.json", begin + from + R"({"name": "T", "bytes": 4, "expected": "from.bin"}]})");
  write("found.json", begin + R"({"name": "F", "bytes": 4}, {"name": "T", "bytes": 4}]})");
  EXPECT_EQ(judged(folder / "right.json"), "");
  EXPECT_NE(judged(folder / "wrong.json").find("T: byte 0 differs"), std::string::npos);
  EXPECT_NE(judged(folder / "found.json").find("uninitialised"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tw::vgpu::ptx
