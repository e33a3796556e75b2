// What ./tw run and ./tw check of every family but matmul share: an instance, data, and schedules
// of the virtual GPU.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/cli/command.h"
#include "src/cli/family_of.h"
#include "src/cli/landing.h"
#include "src/cli/product_request.h"
#include "src/matmul/shape.h"
#include "src/matmul/virtual.h"
#include "tilewright/host/targets.h"

namespace tw::cli {

struct FamilyRequest {
  std::string arch = usual_target;
  std::string instance;
  std::string on;
  std::string data = "integers";
  std::uint64_t seed = 1;
  ScheduleRequest schedule;
  unsigned schedules = 1;
  bool json = false;

  // `usual` is what an empty --instance means.
  void add_instance_options(CLI::App& command, const std::string& usual);
  void add_data_options(CLI::App& command);

  bool names(const char* name, const char* target) const {
    return instance.empty() ? arch == target : instance == name;
  }
  // The instance of that name, or the first of the target.
  template <class Instance, class Instances>
  Result<const Instance*> choose(const char* family, const Instances& instances) const {
    std::string known;
    for (const Instance& candidate : instances) {
      if (names(candidate.name, candidate.target)) return {Status::good(), &candidate};
      known += fmt::format(" {} ({})", candidate.name, candidate.target);
    }
    return {Status::refused(no_instance(
                instance, family,
                fmt::format("There is no such instance of {}; there are{}.", family, known))),
            std::nullopt};
  }

  // All schedules of a problem with so many elements of D, the first as `options` say; `line` is
  // its ./tw run line without the schedule.
  void run_schedules(const std::string& title, std::int64_t elements, const vgpu::Options& options,
                     const std::function<VirtualRun(const vgpu::Options&)>& run,
                     const std::string& line, Verdict& verdict) const;
};

// `Request` is a FamilyRequest that adds its options and runs itself.
template <class Request>
CLI::App* add_family(CLI::App& command, const std::shared_ptr<Request>& request, const char* name,
                     const char* meaning, Verdict& verdict) {
  CLI::App* family = command.add_subcommand(name, meaning);
  request->add_options(*family);
  family->callback([request, &verdict] {
    try {
      request->run(verdict);
    } catch (const Refused& refused) {
      verdict.refuse(refused.sentence);
    }
  });
  return family;
}

template <class Request>
void add_run_family(CLI::App& command, const char* name, const char* meaning, Verdict& verdict) {
  auto request = std::make_shared<Request>();
  add_family(command, request, name, meaning, verdict)
      ->add_option("--on", request->on, "virtual, the only place so far")
      ->check(CLI::IsMember({"virtual"}));
}

template <class Request>
void add_check_family(CLI::App& command, const char* name, const char* meaning, Verdict& verdict) {
  auto request = std::make_shared<Request>();
  request->schedules = 40;
  add_family(command, request, name, meaning, verdict)
      ->add_option("--schedules", request->schedules, "how many")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
}

}  // namespace tw::cli
