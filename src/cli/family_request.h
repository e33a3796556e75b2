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
#include "src/instances/shape.h"
#include "src/verify/virtual_run.h"
#include "tilewright/launch/targets.h"

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

}  // namespace tw::cli
