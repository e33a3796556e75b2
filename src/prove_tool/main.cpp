// ./tw prove: protocols of production parts under every order of steps that makes a difference.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "src/program.h"
#include "src/prove_tool/protocol.h"

namespace tw::prove {
namespace {

constexpr const Protocol* protocols[] = {&ring, &announcement, &turn, &fixup};

struct Request {
  std::string protocol;
  std::optional<unsigned> stages, steps, consumers;  // none: the protocol's usual bound
  std::string fault;
  std::string replay;
  std::uint64_t limit = 1'000'000;
  double seconds = 600;
  bool unreduced = false;
  unsigned schedules = 0;

  void add_options(CLI::App& app);
};

std::string names() {
  std::string text;
  for (const Protocol* protocol : protocols) {
    text += text.empty() ? "" : ", ";
    text += protocol->name;
  }
  return text;
}

void Request::add_options(CLI::App& app) {
  app.add_option("protocol", protocol, "one of " + names() + "; without it: each");
  app.add_option("--stages", stages, "of its ring");
  app.add_option("--steps", steps, "k-tiles, messages or tiles that go through it");
  app.add_option("--consumers", consumers, "threads, or CTAs, that take part beside the first");
  app.add_option("--fault", fault, "plants a mistake, which is refuted; 'list' names them");
  app.add_option("--replay", replay, "the schedule of a refutation, to run it alone");
  app.add_option("--limit", limit, "executions, after which a proof is incomplete")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seconds", seconds, "seconds, after which a proof is incomplete")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--schedules", schedules,
                 "runs so many schedules as ./tw check draws them, beside: how many find anything")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--unreduced", unreduced, "all orders of all steps: for the smallest bounds");
}

const Protocol& named(const std::string& name) {
  for (const Protocol* protocol : protocols) {
    if (protocol->name == name) return *protocol;
  }
  throw std::runtime_error(fmt::format("There is no protocol '{}'; there are {}.", name, names()));
}

void set_number(unsigned& number, std::optional<unsigned> wanted, unsigned most,
                const char* counted, const char* option, const Protocol& protocol) {
  if (!wanted) return;
  if (counted == nullptr) {
    throw std::runtime_error(fmt::format("The protocol {} takes no {}.", protocol.name, option));
  }
  if (*wanted < 1 || *wanted > most) {
    throw std::runtime_error(fmt::format("The protocol {} takes 1 to {} {}, but {} is {}.",
                                         protocol.name, most, counted, option, *wanted));
  }
  number = *wanted;
}

Bound bound_of(const Request& request, const Protocol& protocol) {
  Bound bound = protocol.usual;
  set_number(bound.stages, request.stages, protocol.most.stages, protocol.stages_are, "--stages",
             protocol);
  set_number(bound.steps, request.steps, protocol.most.steps, protocol.steps_are, "--steps",
             protocol);
  set_number(bound.consumers, request.consumers, protocol.most.consumers, protocol.consumers_are,
             "--consumers", protocol);
  return bound;
}

std::string text_of(const Bound& bound, const Protocol& protocol) {
  std::string text;
  if (protocol.stages_are != nullptr) {
    text += fmt::format("{} {}, ", bound.stages, protocol.stages_are);
  }
  return text + fmt::format("{} {}, {} {}", bound.steps, protocol.steps_are, bound.consumers,
                            protocol.consumers_are);
}

unsigned fault_of(const std::string& name, const Protocol& protocol) {
  if (name.empty()) return 0;
  std::string known;
  for (unsigned i = 0; i < protocol.faults.size(); ++i) {
    if (protocol.faults[i].name == name) return i + 1;
    known += fmt::format("{}{}", i == 0 ? "" : ", ", protocol.faults[i].name);
  }
  throw std::runtime_error(
      fmt::format("The protocol {} has no fault '{}'; it has {}.", protocol.name, name, known));
}

void list_faults(std::span<const Protocol* const> chosen) {
  for (const Protocol* protocol : chosen) {
    for (const Fault& fault : protocol->faults) {
      fmt::print("{:13} {:16} {}\n", protocol->name, fault.name, fault.what);
    }
  }
}

std::string reduced_from(const vgpu::Exploration& result, bool unreduced) {
  if (unreduced) return fmt::format("{}", result.executions);
  const double log = result.log10_interleavings;
  return log < 6 ? fmt::format(">= {:.0f}", std::floor(std::pow(10.0, log) + 1e-6))
                 : fmt::format(">= 10^{:.0f}", std::floor(log));
}

const char* name_of(vgpu::Exploration::Verdict verdict) {
  switch (verdict) {
    case vgpu::Exploration::Proved: return "proved";
    case vgpu::Exploration::Refuted: return "refuted";
    case vgpu::Exploration::Incomplete: break;
  }
  return "incomplete";
}

void print_finding(const vgpu::Outcome& outcome) {
  const auto& findings = outcome.report.findings;
  if (!findings.empty()) fmt::print("{}: {}\n", findings[0].name, findings[0].text);
  if (findings.size() > 1) fmt::print("It is the first of {} findings.\n", findings.size());
  for (const std::string& text : outcome.report.incomplete) fmt::print("{}\n", text);
  if (!outcome.right && outcome.report.verdict() == vgpu::Report::Clean) {
    fmt::print("wrong result: no checker has anything to say, but what was read is not right.\n");
  }
}

bool is_clean(const vgpu::Outcome& outcome) {
  return outcome.right && outcome.report.verdict() == vgpu::Report::Clean;
}

// What ./tw check would have seen of it.
void draw_schedules(Model& model, unsigned count) {
  constexpr vgpu::Landing landings[] = {vgpu::Landing::Eager, vgpu::Landing::Lazy,
                                        vgpu::Landing::Random, vgpu::Landing::Adversarial};
  unsigned found = 0, first = 0;
  for (unsigned i = 0; i < count; ++i) {
    vgpu::Options options;
    options.landing = landings[i % std::size(landings)];
    options.seed = 1 + i / std::size(landings);
    if (is_clean(model.run(options))) continue;
    if (found++ == 0) first = i + 1;
  }
  if (count > 0) fmt::print("{} of {} drawn schedules find something", found, count);
  if (found > 0) fmt::print(", number {} first", first);
  if (count > 0) fmt::print("\n");
}

// The exit status: 0 proved, 1 refuted, 2 incomplete.
int prove(const Protocol& protocol, const Request& request) {
  const Bound bound = bound_of(request, protocol);
  const unsigned fault = fault_of(request.fault, protocol);
  const std::unique_ptr<Model> model = protocol.make(bound, fault);
  const vgpu::ExploredRun run = [&](const vgpu::Options& options) { return model->run(options); };
  if (!request.replay.empty()) {
    const vgpu::Outcome outcome = vgpu::replay(run, vgpu::schedule_of(request.replay));
    print_finding(outcome);
    const bool clean = is_clean(outcome);
    fmt::print("{}: the schedule is {}\n", protocol.name, clean ? "clean and right" : "refuted");
    return clean ? 0 : 1;
  }
  vgpu::ExplorationLimits limits;
  limits.executions = request.limit;
  limits.seconds = request.seconds;
  limits.reduced = !request.unreduced;
  const vgpu::Exploration result = vgpu::explore(run, limits);
  fmt::print("{:13} {:36} {:>10} {:>8} {:>11} {:>12} {:>7.1f}  {}{}\n", protocol.name,
             text_of(bound, protocol), result.executions, result.cut, result.transitions,
             reduced_from(result, request.unreduced), result.seconds, name_of(result.verdict),
             result.why.empty() ? "" : ": " + result.why);
  draw_schedules(*model, request.schedules);
  if (result.verdict == vgpu::Exploration::Proved) return 0;
  if (!result.schedule.empty()) {
    print_finding(result.refutation);
    const std::string stages =
        protocol.stages_are == nullptr ? "" : fmt::format(" --stages {}", bound.stages);
    const std::string planted = fault == 0 ? "" : " --fault " + request.fault;
    fmt::print("Replay: ./tw prove {}{} --steps {} --consumers {}{} --replay \"{}\"\n",
               protocol.name, stages, bound.steps, bound.consumers, planted,
               vgpu::to_text(result.schedule));
  }
  return result.verdict == vgpu::Exploration::Refuted ? 1 : 2;
}

int run(const Request& request) {
  std::vector<const Protocol*> chosen(std::begin(protocols), std::end(protocols));
  if (!request.protocol.empty()) chosen = {&named(request.protocol)};
  if (request.fault == "list") {
    list_faults(chosen);
    return 0;
  }
  if (request.protocol.empty() && (!request.fault.empty() || !request.replay.empty())) {
    throw std::runtime_error("--fault and --replay are of one protocol: name it.");
  }
  if (request.replay.empty()) {
    fmt::print("{:13} {:36} {:>10} {:>8} {:>11} {:>12} {:>7}  {}\n", "protocol", "bound",
               "executions", "cut", "transitions", "reduced from", "seconds", "verdict");
  }
  int status = 0;
  for (const Protocol* protocol : chosen) {
    const int one = prove(*protocol, request);
    if (one == 1 || status == 0) status = one;
  }
  return status;
}

int run(int argc, char** argv) {
  CLI::App app{"explores every order of steps of a small protocol, and proves or refutes it",
               "./tw prove"};
  Request request;
  request.add_options(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "tw: %s\n", error.what());
    return 2;
  }
  return run(request);
}

}  // namespace
}  // namespace tw::prove

int main(int argc, char** argv) {
  return tw::run_program([&] { return tw::prove::run(argc, argv); });
}
