// Runs one problem on the virtual GPU with the instance it is linked with, and prints what was
// found, one JSON object per line. plant.py judges it.
//
// usage: planted M N K BETA SMS PARTS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "src/matmul/compare.h"
#include "tests/planted/instance.h"

namespace tw::planted {
namespace {

vgpu::Landing landing_of(const std::string& name) {
  for (const auto landing : {vgpu::Landing::Eager, vgpu::Landing::Lazy, vgpu::Landing::Random,
                             vgpu::Landing::Adversarial}) {
    if (name == name_of(landing)) return landing;
  }
  throw std::runtime_error("There is no landing policy " + name + ".");
}

vgpu::Checker checker_of(const std::string& name) {
  for (unsigned i = 0; i < vgpu::checker_count; ++i) {
    const auto checker = static_cast<vgpu::Checker>(i);
    if (name == name_of(checker)) return checker;
  }
  throw std::runtime_error("There is no checker " + name + ".");
}

void print(const nlohmann::json& line) { std::printf("%s\n", line.dump().c_str()); }

int run(int count, char** arguments) {
  if (count < 9) throw std::runtime_error("Eight arguments are needed.");
  MatmulShape shape;
  adapt(shape);
  shape.m = std::stoll(arguments[1]);
  shape.n = std::stoll(arguments[2]);
  shape.k = std::stoll(arguments[3]);
  shape.epilogue.beta = std::stof(arguments[4]);
  vgpu::Options options;
  options.sm_count = static_cast<unsigned>(std::stoul(arguments[5]));
  const int parts = std::stoi(arguments[6]);
  options.landing = landing_of(arguments[7]);
  options.seed = std::stoull(arguments[8]);
  for (int i = 9; i < count; ++i) options.disabled.insert(checker_of(arguments[i]));

  MatmulData data = make_matmul_data(shape, Fill::Integers, options.seed);
  vgpu::Report report;
  const Status status = simulate(problem_on_host(data, shape), parts, options, report);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  for (const vgpu::Finding& finding : report.findings) {
    print({{"finding", finding.name},
           {"role", finding.role},
           {"stage", finding.stage},
           {"text", finding.text}});
  }
  for (const std::string& text : report.incomplete) print({{"incomplete", text}});
  const Comparison result = compare(data, reference_on_host(data, shape));
  if (!result.good()) print({{"wrong result", result.complaint()}});
  return 0;
}

}  // namespace
}  // namespace tw::planted

int main(int count, char** arguments) {
  try {
    return tw::planted::run(count, arguments);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 2;
  }
}
