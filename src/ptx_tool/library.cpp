// libtilewright_ptx.so: what ./tw ptx does, for other languages, by one function.
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "src/cli/landing.h"
#include "vgpu/ptx/use/described_launch.h"

namespace tw::ptx_tool {
namespace {

using nlohmann::json;
using vgpu::ptx::Array;
using vgpu::ptx::Extent;
using vgpu::ptx::Flow;

Extent extent_of(const json& numbers) { return {numbers.at(0), numbers.at(1), numbers.at(2)}; }

std::byte* address_of(const json& array) {
  return reinterpret_cast<std::byte*>(array.at("address").get<std::uintptr_t>());
}

std::vector<Array> arrays_of(const json& request) {
  std::vector<Array> arrays;
  for (const json& one : request.at("arrays")) {
    const std::string flow = one.at("flow");
    vgpu::ptx::ArrayWords words = {one.at("name"), one.at("type"), one.at("extents"),
                                   one.at("bytes"),
                                   flow == "in"    ? Flow::Read
                                   : flow == "out" ? Flow::Written
                                                   : Flow::Both};
    const std::size_t given = words.flow == Flow::Written ? 0 : words.bytes;
    arrays.emplace_back(std::move(words), std::span(address_of(one), given));
  }
  return arrays;
}

vgpu::ptx::LaunchWords words_of(const json& request) {
  vgpu::ptx::LaunchWords words;
  words.entry = request.at("entry");
  words.grid = extent_of(request.at("grid"));
  words.block = extent_of(request.at("block"));
  words.cluster = extent_of(request.at("cluster"));
  words.shared_bytes = request.at("shared");
  words.dependent_launch = request.at("dependent");
  words.arguments = request.at("arguments");
  return words;
}

vgpu::Options schedule(const json& request, unsigned index) {
  const cli::ScheduleRequest given = {request.at("sms"), request.at("landing"), request.at("seed")};
  const Result<vgpu::Options> resolved = given.resolve();
  if (!resolved.status.is_good()) throw Refusal(resolved.status.sentence());
  vgpu::Options options = *resolved.value;
  options.check = request.at("check");
  options.relaxed = request.at("relaxed");
  if (request.at("schedules") > 1) {
    options.landing = cli::landings[index % std::size(cli::landings)].second;
    options.seed += index / std::size(cli::landings);
  }
  return options;
}

json run(std::string_view text, const json& request) {
  vgpu::ptx::DescribedLaunch launch(text, words_of(request), arrays_of(request));
  json findings = json::array(), incomplete = json::array(), printed = json::array();
  unsigned clean = 0;
  std::uint64_t steps = 0;
  const unsigned schedules = request.at("schedules");
  for (unsigned i = 0; i < schedules; ++i) {
    const vgpu::Report report = launch.run(schedule(request, i));
    steps += report.steps;
    if (i == 0) printed = launch.printed();
    if (report.verdict() == vgpu::Report::Clean) ++clean;
    if (clean < i) continue;  // an earlier one has spoken
    for (const vgpu::Finding& finding : report.findings) {
      findings.push_back({{"name", finding.name}, {"text", finding.text}});
    }
    for (const std::string& reason : report.incomplete) incomplete.push_back(reason);
  }
  for (std::size_t i = 0; i < launch.arrays().size(); ++i) {
    const Array& array = launch.arrays()[i];
    if (array.words().flow == Flow::Read || array.words().bytes == 0) continue;
    std::memcpy(address_of(request.at("arrays").at(i)), array.data(), array.words().bytes);
  }
  return {{"title", launch.title()}, {"findings", findings},   {"incomplete", incomplete},
          {"clean", clean},          {"schedules", schedules}, {"steps", steps},
          {"printed", printed}};
}

}  // namespace
}  // namespace tw::ptx_tool

// Runs what `request` says in JSON and gives what came of it in JSON: "refused" with a sentence, or
// findings and what was incomplete. The answer is the calling thread's until its next call. Arrays
// are named by their addresses; they get what the last schedule wrote.
extern "C" __attribute__((visibility("default"))) const char* tw_ptx_run(const char* text,
                                                                         std::size_t bytes,
                                                                         const char* request) {
  thread_local std::string answer;
  nlohmann::json said;
  try {
    said = tw::ptx_tool::run({text, bytes}, nlohmann::json::parse(request));
  } catch (const std::exception& exception) {
    said = {{"refused", exception.what()}};
  }
  answer = said.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return answer.c_str();
}
