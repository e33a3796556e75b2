// One instance of every mechanism from its PTX: the bits of the direct run, under the same landing.
// TW_PTX_INSTANCES=REGEX takes the instances of the build that match it instead.
#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "src/verify/trials.h"
#include "src/verify/virtual.h"
#include "tests/ptx/compiled.h"
#include "tests/ptx/support.h"

namespace tw::vgpu::ptx {
namespace {

// A line of a family's instances.txt, as src/instances/kernel.cu.in takes it.
struct Listed {
  std::string family, page, source;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

class InstanceList {
 public:
  InstanceList() {
    const std::filesystem::path families =
        std::string(TW_SOURCE_FOLDER) + "/include/tilewright/family";
    for (const auto& family : std::filesystem::directory_iterator(families)) {
      std::ifstream file(family.path() / "instances.txt");
      std::string header, line;
      if (!std::getline(file, header)) continue;
      while (std::getline(file, line)) {
        if (!line.empty() && line[0] != '#') add(family.path(), split(header, ' '), line);
      }
    }
  }
  const Listed* find(const std::string& name) const {
    const auto found = listed_.find(name);
    return found == listed_.end() ? nullptr : &found->second;
  }

 private:
  // The header is "#! Matmul WarpSpecialized PAGE|ARCH|NAME|CONFIG".
  void add(const std::filesystem::path& family, const std::vector<std::string>& header,
           const std::string& line) {
    std::map<std::string, std::string> fields{{"KIND", header[1]}, {"SKELETON_TYPE", header[2]}};
    const std::vector<std::string> names = split(header[3], '|'), values = split(line, '|');
    for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
      fields[names[i]] = values[i];
    }
    if (fields["ARCH"].starts_with("Rows<")) fields["SKELETON_TYPE"] = "Streaming";
    const std::string name = fields["NAME"], kind = fields["KIND"];
    const std::string recipe = fields["RECIPE"].empty() ? "" : fields["RECIPE"] + ", ";
    const bool is_own_page = std::filesystem::exists(family / (fields["PAGE"] + ".h"));
    const std::string folder =
        is_own_page ? "family/" + family.filename().string() : std::string("arch");
    std::string source = "#include \"tilewright/" + folder + "/" + fields["PAGE"] + ".h\"\n" +
                         "#include \"tilewright/family/" + family.filename().string() +
                         "/kernel.h\"\n#include \"tilewright/kernel/entry.h\"\nnamespace tw {\n" +
                         "struct " + name + " { static constexpr " + kind + "Config config = {" +
                         fields["CONFIG"] + "}; };\nusing Kernel_" + name +
                         " = kernel::" + fields["SKELETON_TYPE"] + "<" + kind + "<" +
                         fields["ARCH"] + ", " + recipe + name +
                         ">>;\ntemplate __global__ void kernel::entry<Kernel_" + name +
                         ">(const __grid_constant__ Kernel_" + name + "::Params);\n}\n";
    listed_[name] = {family.filename().string(), fields["PAGE"], std::move(source)};
  }

  std::map<std::string, Listed> listed_;
};

std::string architecture_of(const std::string& page) {
  if (page.starts_with("sm80")) return "sm_80";
  if (page.starts_with("sm90")) return "sm_90a";
  return page.starts_with("sm100") ? "sm_100a" : "";
}

struct Chosen {
  const Trial* trial;
  const Instance* instance;
  const Listed* listed;
};

// One of each mechanism; all are small problems.
const std::vector<std::string>& usual_names() {
  static const std::vector<std::string> names = {
      // cp.async, plain copies and mma.sync: shares of tiles, attention, gathered rows, gradients,
      // streams
      "ampere_stream", "attention_64_ampere", "gather_ampere", "wgrad_any_bf16",
      "rotary_cache_ampere", "to_nvfp4",
      // TMA and wgmma: turns, shares, split sums, tickets, swap_ab, rows, im2col, scales
      "pingpong_128x128_1x2", "hopper_stream", "bf16_64x64_k2", "attention_64_dynamic",
      "swap_ab_e4m3_64x8", "rows_bf16_16x8", "conv_groups_64", "blockwise_64x64_2x1",
      "attention_128_decode_few", "requantised_128x128",
      // tensor memory: pairs, launch control, shares, split sums, scales, im2col, groups
      "blackwell_residual", "blackwell_stream", "blackwell_cluster_split", "mxfp8_pair", "nvfp4",
      "grouped_blackwell", "conv_blackwell_1x2"};
  return names;
}

bool is_chosen(const std::string& name) {
  if (const char* const pattern = std::getenv("TW_PTX_INSTANCES")) {
    return std::regex_search(name, std::regex(pattern));
  }
  const std::vector<std::string>& names = usual_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What the direct run leaves, and what PTX leaves.
void run_twice(const Chosen& chosen, const Code& code) {
  Random random(17);
  Case made = random_case(*chosen.trial, *chosen.instance, random, 160);
  const Verified verified(made);
  Options options;
  options.seed = 5;
  HostProblem direct(verified.of()), from_ptx(verified.of());
  const VirtualRun expected = run_virtually(verified, options, &direct);
  ASSERT_TRUE(expected.clean()) << run_line(made) << "\n" << expected.complaint();
  options.instead = [&](const Launch& launch, std::span<const GlobalRange> memory,
                        const Options& others) {
    return run(code, request_of(launch), memory, others);
  };
  const VirtualRun found = run_virtually(verified, options, &from_ptx);
  ASSERT_TRUE(found.clean()) << run_line(made) << "\n" << found.complaint();
  EXPECT_TRUE(same_outputs(direct, from_ptx)) << run_line(made);
}

void run_all(const std::string& architecture) {
  if (nvcc().empty()) GTEST_SKIP() << "there is no nvcc";
  const InstanceList list;
  std::vector<Chosen> chosen;
  for (const Trial* const trial : all_trials()) {
    for (const Instance& instance : trial->instances()) {
      const Listed* const listed = list.find(instance.name);
      if (listed == nullptr || architecture_of(listed->page) != architecture) continue;
      if (is_chosen(instance.name)) chosen.push_back({trial, &instance, listed});
    }
  }
  if (chosen.empty()) GTEST_SKIP() << "the build has none of these instances";
  // One source for all: nvcc reads the headers once.
  const TemporaryFile source(architecture + ".cu");
  {
    std::ofstream file(source.name());
    for (const Chosen& one : chosen) file << one.listed->source;
  }
  const Result<Module> module = read(ptx_of(source.name(), architecture));
  ASSERT_TRUE(module.status.is_good()) << module.status.sentence();
  for (const Chosen& one : chosen) {
    SCOPED_TRACE(one.instance->name);
    // The name stands in the entry's, behind its length.
    const std::string name = one.instance->name;
    const std::string mangled = std::to_string(name.size()) + name + "E";
    const auto& functions = module.value->functions;
    const auto entry = std::find_if(functions.begin(), functions.end(), [&](const auto& function) {
      return function.is_entry && function.name.find(mangled) != std::string::npos;
    });
    ASSERT_NE(entry, functions.end());
    const Result<Code> code = prepare(*module.value, entry->name);
    ASSERT_TRUE(code.status.is_good()) << code.status.sentence();
    run_twice(one, *code.value);
  }
  std::printf("%zu instances for %s\n", chosen.size(), architecture.c_str());
}

TEST(PtxInstances, Ampere) { run_all("sm_80"); }
TEST(PtxInstances, Hopper) { run_all("sm_90a"); }
TEST(PtxInstances, Blackwell) { run_all("sm_100a"); }

}  // namespace
}  // namespace tw::vgpu::ptx
