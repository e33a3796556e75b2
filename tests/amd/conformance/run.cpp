// Runs the conformance programs of CDNA and compares every word with the tables' (golden.py): on
// the virtual GPU, or on the AMD GPU that is here, by a code object of kernels.cpp.
//
// usage: conformance_amd INPUTS EXPECTED [CODE_OBJECT]
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/amd/conformance/programs.h"
#include "tilewright/launch/hip.h"
#include "vgpu/machine/machine.h"

namespace tw::conformance {
namespace {

using Words = std::vector<std::uint32_t>;
constexpr vgpu::Landing every_landing[] = {vgpu::Landing::Eager, vgpu::Landing::Lazy,
                                           vgpu::Landing::Random, vgpu::Landing::Adversarial};

struct Program {
  const char* name;
  const char* target;  // the one that has it, or "both"
  void (*body)(const Wave&);
};
#define TW_BOTH(NAME, BODY) Program{#NAME, "both", BODY},
#define TW_942(NAME, BODY) Program{#NAME, "gfx942", BODY},
#define TW_950(NAME, BODY) Program{#NAME, "gfx950", BODY},
const Program programs[] = {
    TW_PROGRAMS_COMMON(TW_BOTH) TW_PROGRAMS_GFX942(TW_942) TW_PROGRAMS_GFX950(TW_950)};

Words read_words(std::istream& from) {
  Words words;
  for (std::string text; from >> text;) {
    words.push_back(static_cast<std::uint32_t>(std::stoul(text, nullptr, 16)));
  }
  return words;
}

// A sentence if it does not run.
std::string on_virtual_gpu(const Program& program, const Words& input, Words& output) {
  for (const vgpu::Landing landing : every_landing) {
    const Words before = output;
    vgpu::Options options;
    options.landing = landing;
    const vgpu::GlobalRange memory[] = {
        {output.data(), 4 * output.size(), "output", false, true},
        {const_cast<std::uint32_t*>(input.data()), 4 * input.size(), "input", true, false}};
    const vgpu::Report report =
        vgpu::run({1, 1, 64, 4096, [&] { program.body({input.data(), output.data()}); }, 64},
                  memory, options);
    if (report.verdict() != vgpu::Report::Clean) {
      return report.findings.empty() ? "it is not complete" : report.findings[0].text;
    }
    if (landing != every_landing[0] && output != before) return "it depends on the schedule";
  }
  return "";
}

std::string on_gpu(const HipLibrary& hip, void* module, const Program& program, const Words& input,
                   Words& output) {
  void *function = nullptr, *from = nullptr, *to = nullptr;
  const std::size_t in_bytes = 4 * input.size(), out_bytes = 4 * output.size();
  if (hip.find(&function, module, program.name) != 0) return "the code object does not have it";
  if (hip.allocate(&from, in_bytes) != 0 || hip.allocate(&to, out_bytes) != 0) return "no memory";
  int failed = hip.copy(from, input.data(), in_bytes, HipLibrary::to_device);
  failed |= hip.copy(to, output.data(), out_bytes, HipLibrary::to_device);
  Wave wave = {static_cast<const std::uint32_t*>(from), static_cast<std::uint32_t*>(to)};
  std::size_t bytes = sizeof wave;
  const auto tag = [](std::uintptr_t number) { return reinterpret_cast<void*>(number); };
  void* extra[] = {tag(1), &wave, tag(2), &bytes, tag(3)};
  failed |= hip.launch(function, 1, 1, 1, 64, 1, 1, 4096, nullptr, nullptr, extra);
  failed |= hip.synchronize();
  failed |= hip.copy(output.data(), to, out_bytes, HipLibrary::to_host);
  hip.free(from);
  hip.free(to);
  return failed == 0 ? "" : "HIP refuses it";
}

int run(int count, char** values) {
  if (count < 3 || count > 4) {
    std::puts("usage: conformance_amd INPUTS EXPECTED [CODE_OBJECT]");
    return 2;
  }
  std::map<std::string, Words> expected;
  std::ifstream file(values[2]);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    expected[name] = read_words(words);
  }
  const HipLibrary* hip = nullptr;
  void* module = nullptr;
  std::string target;
  if (count == 4) {
    std::string why;
    hip = HipLibrary::opened(why);
    std::ifstream object(values[3], std::ios::binary);
    const std::string image((std::istreambuf_iterator<char>(object)), {});
    if (hip == nullptr || hip->load(&module, image.data()) != 0) {
      std::printf("%s\n", hip == nullptr ? why.c_str() : "HIP does not load the code object.");
      return 1;
    }
    target = hip->target_of(0);
  }
  unsigned right = 0, wrong = 0;
  for (const Program& program : programs) {
    const std::string of = program.target;
    if (hip != nullptr && of != "both" && of != target) continue;
    std::ifstream words(std::string(values[1]) + "/" + program.name + ".words");
    const Words input = read_words(words);
    const Words& golden = expected[program.name];
    Words output(golden.size(), 0xa5a5a5a5u);
    const bool is_there = input.size() == input_words && !golden.empty();
    std::string why = is_there ? "" : "no input, or no tables";
    if (why.empty()) {
      why = hip != nullptr ? on_gpu(*hip, module, program, input, output)
                           : on_virtual_gpu(program, input, output);
    }
    for (std::size_t i = 0; why.empty() && i < golden.size(); ++i) {
      if (output[i] == golden[i]) continue;
      const std::size_t of_lane = golden.size() / 64;
      char text[96];
      std::snprintf(text, sizeof text, "lane %zu, word %zu: %08x instead of %08x", i / of_lane,
                    i % of_lane, output[i], golden[i]);
      why = text;
    }
    if (!why.empty()) std::printf("%s: %s.\n", program.name, why.c_str());
    ++(why.empty() ? right : wrong);
  }
  std::printf("%u programs are as the tables say, %u are not.\n", right, wrong);
  return wrong == 0 && right > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tw::conformance

int main(int count, char** values) { return tw::conformance::run(count, values); }
