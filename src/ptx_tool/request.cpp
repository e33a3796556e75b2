#include "src/ptx_tool/request.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "src/cli/number_list.h"
#include "vgpu/ptx/use/element.h"

namespace tw::ptx_tool {
namespace {

using vgpu::ptx::Array;
using vgpu::ptx::ArrayWords;
using vgpu::ptx::Extent;
using vgpu::ptx::Flow;

// "4", "4,2" or "4,2,1".
Extent extent_of(const char* option, const std::string& text) {
  std::vector<std::uint32_t> numbers;
  if (!cli::read_number_list(numbers, text) || numbers.size() > 3) {
    throw Refusal(
        fmt::format("{} is '{}', but must be one to three numbers as in 4,2,1.", option, text));
  }
  numbers.resize(3, 1);
  return {numbers[0], numbers[1], numbers[2]};
}

// "float32[64,32]".
ArrayWords shaped(const std::string& name, const std::string& words) {
  ArrayWords array;
  array.name = name;
  const std::size_t bracket = words.find('[');
  array.type = words.substr(0, bracket);
  const vgpu::ptx::Element* const element = vgpu::ptx::find_element(array.type);
  const bool has_shape =
      bracket != std::string::npos && words.ends_with(']') &&
      cli::read_number_list(array.extents, words.substr(bracket + 1, words.size() - bracket - 2));
  if (element == nullptr || element->packed_bits != 0 || !has_shape) {
    throw Refusal(
        fmt::format("The array {} is '{}', but must be as in float32[64,32].", name, words));
  }
  array.bytes = element->bytes;
  for (const std::uint64_t extent : array.extents) {
    if (extent > std::uint64_t{1} << 32 || array.bytes * extent > std::uint64_t{1} << 34) {
      throw Refusal(fmt::format("The array {} of {} has more than 16 GiB.", name, words));
    }
    array.bytes *= extent;
  }
  return array;
}

Array array_of(const std::string& words) {
  const std::size_t equals = words.find('=');
  const std::string name = words.substr(0, equals);
  if (equals == std::string::npos || name.empty() ||
      name.find_first_of(":,;+") != std::string::npos || (name[0] >= '0' && name[0] <= '9')) {
    throw Refusal(
        fmt::format("--array is '{}', but must be NAME=FILE.npy, NAME=inout:FILE.npy, "
                    "NAME=out:TYPE[SHAPE] or NAME=zeros:TYPE[SHAPE].",
                    words));
  }
  const std::string what = words.substr(equals + 1);
  if (what.starts_with("out:")) {
    ArrayWords array = shaped(name, what.substr(4));
    array.flow = Flow::Written;
    return Array(std::move(array), {});
  }
  if (what.starts_with("zeros:")) {
    ArrayWords array = shaped(name, what.substr(6));
    const std::vector<std::byte> zeros(array.bytes);
    return Array(std::move(array), zeros);
  }
  const bool is_both = what.starts_with("inout:");
  const NpyArray read = read_npy(is_both ? what.substr(6) : what);
  return Array(
      {name, read.type, read.extents, read.bytes.size(), is_both ? Flow::Both : Flow::Read},
      read.bytes);
}

}  // namespace

void PtxRequest::add_options(CLI::App& app) {
  app.add_option("file", file, "the PTX text")->required();
  app.add_option("--entry", entry, "the kernel; not needed where the text has one");
  app.add_option("--grid", grid, "CTAs: x, x,y or x,y,z")->capture_default_str();
  app.add_option("--block", block, "threads of a CTA; not needed behind .reqntid");
  app.add_option("--cluster", cluster, "CTAs of a cluster; not needed behind .reqnctapercluster");
  app.add_option("--shared", shared_bytes, "bytes of dynamic shared memory")->capture_default_str();
  app.add_flag("--dependent", dependent_launch,
               "a grid before it may still run (programmatic stream serialisation)");
  app.add_option("--array", arrays,
                 "NAME=FILE.npy: it is read; NAME=inout:FILE.npy; NAME=out:float32[64,32]: nobody "
                 "has written it; NAME=zeros:int32[4]")
      ->allow_extra_args(false);
  app.add_option("--arg", arguments,
                 "of the next parameter: NAME or NAME+BYTES of an array; 17, 0.5 or f16:0.5; null; "
                 "map:NAME,box=64x32,swizzle=128 with type=, dims=, strides= (bytes), offset=, "
                 "and of im2col pixels=, lower=, upper=, steps=; struct:0=NAME;8=s32:17")
      ->allow_extra_args(false);
  app.add_option("--expect", expectations,
                 "NAME=FILE.npy, what the array must have then; with ,bound=1e-3 behind it no "
                 "element may be further away")
      ->allow_extra_args(false);
  app.add_option("--save", saves, "NAME=FILE.npy, what the last schedule leaves in an array")
      ->allow_extra_args(false);
  app.add_option("--schedules", schedules, "how many; 1: that of --landing and --schedule-seed")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  schedule.add_options(app);
  app.add_flag(
      "--relaxed", relaxed,
      "without findings about fences that compilers leave out, and equal stores: for Triton "
      "(docs/hardware.md)");
  app.add_flag("--unchecked", unchecked, "run without the checkers");
  app.add_option("-o,--output", output, "a timeline to write, for Perfetto");
  app.add_option("--html", html, "a timeline to write, for any browser");
  app.add_option("--svg", svg, "a timeline to write, as a picture");
  app.add_option("--ctas", ctas, "CTAs of the timeline, the first of the grid")
      ->check(CLI::Range(1u, 256u))
      ->capture_default_str();
}

vgpu::ptx::LaunchWords PtxRequest::words() const {
  vgpu::ptx::LaunchWords words;
  words.entry = entry;
  words.grid = extent_of("--grid", grid);
  if (!block.empty()) words.block = extent_of("--block", block);
  if (!cluster.empty()) words.cluster = extent_of("--cluster", cluster);
  words.shared_bytes = shared_bytes;
  words.dependent_launch = dependent_launch;
  words.arguments = arguments;
  return words;
}

std::vector<Array> PtxRequest::named_arrays() const {
  std::vector<Array> made;
  for (const std::string& words : arrays) made.push_back(array_of(words));
  for (std::size_t i = 0; i < made.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (made[i].words().name != made[j].words().name) continue;
      throw Refusal(fmt::format("There are two arrays '{}'.", made[i].words().name));
    }
  }
  return made;
}

}  // namespace tw::ptx_tool
