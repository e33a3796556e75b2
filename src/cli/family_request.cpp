#include "src/cli/family_request.h"

#include <fmt/format.h>

namespace tw::cli {

void FamilyRequest::add_instance_options(CLI::App& command, const std::string& usual) {
  command.add_option("--arch", arch, "the target: " + target_names(" or "))->capture_default_str();
  command.add_option("--instance", instance, "by name; empty: " + usual);
}

void FamilyRequest::add_data_options(CLI::App& command) {
  command.add_option("--data", data, "integers or position (exact), or normal")
      ->capture_default_str();
  command.add_option("--seed", seed)->capture_default_str();
  schedule.add_options(command);
}

void FamilyRequest::run_schedules(const std::string& title, std::int64_t elements,
                                  const vgpu::Options& first,
                                  const std::function<VirtualRun(const vgpu::Options&)>& run,
                                  const std::string& line, Verdict& verdict) const {
  std::string first_complaint;
  unsigned clean = 0;
  Comparison comparison;
  for (unsigned i = 0; i < schedules; ++i) {
    vgpu::Options options = first;
    if (schedules > 1) options.landing = landings[i % std::size(landings)].second;
    options.seed += i;
    const VirtualRun ran = run(options);
    if (!ran.status.is_good()) return verdict.refuse(ran.status.sentence());
    comparison = ran.comparison;
    if (ran.clean()) {
      ++clean;
    } else if (first_complaint.empty()) {
      first_complaint =
          fmt::format("{}replay: {}{}\n", ran.complaint(), line, schedule_words(options));
    }
  }
  fmt::print("{} on the virtual GPU: ", title);
  if (schedules > 1) {
    fmt::print("{} of {} schedules are clean\n", clean, schedules);
  } else if (clean == 0) {
    fmt::print("wrong, or findings\n");
  } else if (comparison.exact) {
    fmt::print("all {} elements are exact\n", elements);
  } else {
    fmt::print("the worst error is {:.2f} of its bound\n", comparison.worst);
  }
  fmt::print("{}", first_complaint);
  verdict.status = clean == schedules ? 0 : 1;
}

}  // namespace tw::cli
