// Runs problems of the family it is linked with on the virtual GPU, by its one instance, and prints
// what was found, one JSON object per line. plant.py judges it.
//
// usage: planted FAMILY [OPTIONS of ./tw run] [--off CHECKER...]
//        planted --random SEED: a problem and a schedule of the fuzzer's
#include <nlohmann/json.hpp>

#include "src/cli/described.h"
#include "src/verify/virtual.h"

namespace tw::planted {

// It is defined in the instance's file: what an altered header can change is behind it.
extern const Trial& trial;

namespace {

vgpu::Checker checker_of(const std::string& name) {
  for (unsigned i = 0; i < vgpu::checker_count; ++i) {
    const auto checker = static_cast<vgpu::Checker>(i);
    if (name == name_of(checker)) return checker;
  }
  throw CLI::ValidationError("--off", "there is no checker " + name);
}

void print(const nlohmann::json& line) { std::printf("%s\n", line.dump().c_str()); }

void run(const Case& made, const vgpu::Options& options, cli::Verdict& verdict) {
  const VirtualRun ran = run_virtually(Verified(made), options);
  if (!ran.status.is_good()) return verdict.refuse(ran.status.sentence());
  for (const vgpu::Finding& finding : ran.report.findings) {
    print({{"finding", finding.name},
           {"role", finding.role},
           {"stage", finding.stage},
           {"text", finding.text}});
  }
  for (const std::string& text : ran.report.incomplete) print({{"incomplete", text}});
  if (!ran.comparison.good()) print({{"wrong result", ran.comparison.complaint()}});
}

// One in six has many tiles, of few products each.
Case random_problem(const Instance& instance, Random& random) {
  const bool is_wide = random() % 6 == 0;
  Case made = random_case(trial, instance, random, is_wide ? 1000 : 320);
  for (const IntegerField& number : trial.description->numbers) {
    if (!is_wide || std::strcmp(number.name, "k") != 0) continue;
    Case narrow = made;
    number.set(narrow.problem.data(), 1 + number.get(made.problem.data()) % 64);
    if (serves(narrow).is_good()) made = narrow;
  }
  try_infinity(made, random);
  try_far(made, random);
  return made;
}

int main(int count, char** arguments) {
  CLI::App app{"A kernel with a planted bug"};
  cli::Verdict verdict;
  std::vector<std::string> off;
  const Trial* const trials[] = {&trial};
  const cli::Families families = {trials, [](const std::string&, const std::string&,
                                             const std::string& usual) { return usual; }};
  add_described(
      app, families,
      [&](const Case& made, const vgpu::Options& given, cli::Verdict& found) {
        vgpu::Options options = given;
        for (const std::string& name : off) options.disabled.insert(checker_of(name));
        run(made, options, found);
      },
      verdict, [&](CLI::App& family) { family.add_option("--off", off, "checkers"); });
  std::uint64_t seed = 0;
  CLI::Option* const is_random = app.add_option("--random", seed);
  CLI11_PARSE(app, count, arguments);
  if (is_random->count() > 0) {
    Random random(seed);
    const Instance& instance = trial.instances()[0];
    run(random_problem(instance, random), cli::random_schedule(instance.cluster, random), verdict);
  }
  return verdict.status;
}

}  // namespace
}  // namespace tw::planted

int main(int count, char** arguments) { return tw::planted::main(count, arguments); }
