// Runs every program on the virtual GPU under every landing policy and compares with the files in
// the tree, so that a change of the model shows as a change of these files. --write writes them.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "tests/conformance/exact_products.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/programs.h"
#include "vgpu/data/tile_map.h"
#include "vgpu/machine/machine.h"

namespace tw::conformance {
namespace {

TensorMap encode(const Tensor& tensor, unsigned char* base) {
  vgpu::TileMap map;
  map.base = base + tensor.offset;
  map.element_bytes = tensor.element_bytes;
  map.packed_bits = tensor.packed_bits;
  map.rank = tensor.rank;
  std::copy_n(tensor.extents, 5, map.extents);
  std::copy_n(tensor.pitch_bytes, 4, map.pitch_bytes);
  std::copy_n(tensor.box, 5, map.box);
  map.swizzle = static_cast<vgpu::MapSwizzle>(tensor.swizzle);
  map.im2col.pixels = tensor.pixels;
  std::copy_n(tensor.lower, 3, map.im2col.lower);
  std::copy_n(tensor.upper, 3, map.im2col.upper);
  std::copy_n(tensor.steps, 3, map.im2col.steps);
  return vgpu::encode(map);
}

struct Outcome {
  std::vector<unsigned char> output;
  vgpu::Report report;
};

Outcome run(const Program& program, vgpu::Landing landing) {
  Outcome outcome;
  const std::vector<unsigned char> made = make_input(program.input);
  // It begins as the device's memory does: maps of packed elements ask for 32 bytes.
  constexpr std::size_t alignment = 256;
  std::vector<unsigned char> room(made.size() + alignment);
  void* begin = room.data();
  std::size_t space = room.size();
  auto* const input = static_cast<unsigned char*>(std::align(alignment, made.size(), begin, space));
  std::copy(made.begin(), made.end(), input);
  outcome.output.assign(program.output_bytes, untouched);
  Params params = program.params;
  params.input = reinterpret_cast<const std::uint32_t*>(input);
  params.output = reinterpret_cast<std::uint32_t*>(outcome.output.data());
  if (const Tensor& tensor = program.tensor; tensor.rank > 0) {
    params.map = encode(tensor, tensor.in_output ? outcome.output.data() : input);
  }
  std::vector<vgpu::GlobalRange> memory = {
      {outcome.output.data(), outcome.output.size(), "output", false, true}};
  if (!made.empty()) memory.push_back({input, made.size(), "input", true, false});
  const Grid& grid = program.grid;
  outcome.report = vgpu::run({grid.ctas, grid.cluster_size, grid.threads, grid.shared_bytes,
                              [&] { program.body(params); }},
                             memory, {.sm_count = 8, .landing = landing});
  return outcome;
}

class Tester {
 public:
  explicit Tester(Arguments arguments) : arguments_(std::move(arguments)) {}

  void test(const Family& family) {
    const auto file = arguments_.expected / (std::string(family.name) + ".txt");
    if (!arguments_.write) expected_ = read_expected(file);
    std::vector<std::string> names;
    for (const Program& program : family.list()) {
      if (!program.name.starts_with(arguments_.only)) continue;
      names.push_back(program.name);
      test(program);
    }
    if (arguments_.write) write_expected(file, names, expected_);
    for (const auto& [name, entry] : expected_) {
      if (arguments_.only.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
        complain(name, file.string() + " has it, but there is no such program");
      }
    }
    expected_.clear();
  }

  int finish() const {
    std::printf("%d programs under 4 landing policies, %d wrong.\n", programs_, wrong_);
    if (rounded_ > 0) {
      std::printf(
          "Sums that are not exact: the machine's fast arithmetic gives %llu of %llu results of "
          "the hardware's arithmetic bit by bit (%.2f%%).\n",
          static_cast<unsigned long long>(agreeing_), static_cast<unsigned long long>(rounded_),
          100.0 * static_cast<double>(agreeing_) / static_cast<double>(rounded_));
    }
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  void complain(const std::string& name, const std::string& sentence) {
    ++wrong_;
    std::printf("%s: %s.\n", name.c_str(), sentence.c_str());
  }

  void test(const Program& program) {
    using vgpu::Landing;
    ++programs_;
    Outcome first = run(program, Landing::Eager);
    check_report(program, Landing::Eager, first.report);
    for (Landing landing : {Landing::Lazy, Landing::Random, Landing::Adversarial}) {
      const Outcome other = run(program, landing);
      check_report(program, landing, other.report);
      if (auto different = difference(expectation(first.output), other.output)) {
        complain(program.name, std::string("landing ") + vgpu::name_of(landing) +
                                   " gives another output than eager, " + *different);
      }
    }
    if (is_product(program)) first.output = by_exact_arithmetic(program, first.output);
    dump_output(arguments_, program.name, first.output);
    if (arguments_.write) {
      expected_[program.name] = expectation(first.output);
    } else if (const auto entry = expected_.find(program.name); entry == expected_.end()) {
      complain(program.name, "nothing is expected of it; --write does");
    } else if (auto different = difference(entry->second, first.output)) {
      complain(program.name, "the output differs from the file, " + *different);
    }
  }

  void check_report(const Program& program, vgpu::Landing landing, const vgpu::Report& report) {
    const std::string where = std::string("landing ") + vgpu::name_of(landing) + ": ";
    for (const auto& finding : report.findings) {
      complain(program.name, where + finding.name + ": " + finding.text);
    }
    for (const auto& reason : report.incomplete) complain(program.name, where + reason);
  }

  // Exact sums must be the same in both arithmetics; of others we only count how many are.
  std::vector<unsigned char> by_exact_arithmetic(const Program& program,
                                                 const std::vector<unsigned char>& fast) {
    std::vector<unsigned char> exact = exact_products(program);
    if (!program.is_rounded) {
      if (auto different = difference(expectation(exact), fast)) {
        complain(program.name, "the fast arithmetic differs from the exact one, " + *different);
      }
      return exact;
    }
    std::uint64_t agreeing = 0;
    for (std::size_t at = 0; at < exact.size(); at += 4) {
      if (std::memcmp(&exact[at], &fast[at], 4) == 0) ++agreeing;
    }
    std::printf("%s: fast arithmetic gives %llu of %zu results.\n", program.name.c_str(),
                static_cast<unsigned long long>(agreeing), exact.size() / 4);
    agreeing_ += agreeing;
    rounded_ += exact.size() / 4;
    return exact;
  }

  Arguments arguments_;
  ExpectedByName expected_;
  int programs_ = 0;
  int wrong_ = 0;
  std::uint64_t agreeing_ = 0;
  std::uint64_t rounded_ = 0;
};

}  // namespace
}  // namespace tw::conformance

int main(int count, char** values) {
  using namespace tw::conformance;
  Tester tester(parse_arguments(count, values, true));
  for (const Family& family : families()) tester.test(family);
  return tester.finish();
}
