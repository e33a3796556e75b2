#include "src/cli/family_request.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "src/cli/still_going.h"

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
  std::atomic<unsigned> next = 0;
  std::mutex mutex;
  unsigned clean = 0, done = 0, first_wrong = schedules;
  std::string first_complaint;
  Comparison comparison;
  Status refused = Status::good();
  const auto work = [&] {
    for (unsigned i = next++; i < schedules; i = next++) {
      vgpu::Options options = first;
      if (schedules > 1) options.landing = landings[i % std::size(landings)].second;
      options.seed += i;
      const VirtualRun ran = run(options);
      const std::lock_guard lock(mutex);
      comparison = ran.comparison;
      ++done;
      if (!ran.status.is_good()) {
        refused = ran.status;
        next = schedules;
      } else if (ran.clean()) {
        ++clean;
      } else if (i < first_wrong) {
        first_wrong = i;
        first_complaint =
            fmt::format("{}replay: {}{}\n", ran.complaint(), line, schedule_words(options));
      }
    }
  };
  const StillGoing still_going([&](double seconds) {
    const std::lock_guard lock(mutex);
    return fmt::format("{} of {} schedules{}", done, schedules,
                       time_left(seconds, done, schedules));
  });
  std::vector<std::thread> threads;
  const unsigned workers = std::min(schedules, std::max(1u, std::thread::hardware_concurrency()));
  for (unsigned i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (!refused.is_good()) return verdict.refuse(refused.sentence());
  fmt::print("{} on the virtual GPU: ", title);
  if (schedules > 1) {
    fmt::print("{} of {} schedules are clean\n", clean, schedules);
  } else if (clean == 0) {
    fmt::print("wrong, or findings\n");
  } else if (comparison.exact) {
    fmt::print("all {} elements are exact\n", elements);
  } else {
    fmt::print("right, the worst error is {:.2f} of its bound\n", comparison.worst);
  }
  fmt::print("{}", first_complaint);
  if (json) {
    fmt::print(
        "{}\n",
        nlohmann::json({{"schedules", schedules}, {"clean", clean}, {"complaint", first_complaint}})
            .dump());
  }
  verdict.status = clean == schedules ? 0 : 1;
}

}  // namespace tw::cli
