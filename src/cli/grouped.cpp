// ./tw run grouped and ./tw check grouped, on the virtual GPU.
#include <fmt/format.h>

#include <memory>

#include "src/cli/command.h"
#include "src/cli/landing.h"
#include "src/grouped/task.h"
#include "src/matmul/names.h"

namespace tw::cli {

namespace {

struct GroupedRequest {
  std::string arch = "sm90a";
  std::string instance;
  std::string on;
  std::vector<std::int32_t> sizes = {70, 0, 1, 300, 5};
  std::int64_t spare = 0;
  std::int64_t capacity = 0;
  std::int64_t n = 200;
  std::int64_t k = 200;
  bool residual = false;
  std::string data = "integers";
  std::uint64_t seed = 1;
  ScheduleRequest schedule;
  unsigned schedules = 1;

  void add_options(CLI::App& command) {
    command.add_option("--arch", arch, "the target: sm80, sm90a or sm100a")->capture_default_str();
    command.add_option("--instance", instance, "by name; empty: the first of the target");
    command.add_option("--sizes", sizes, "rows of each group: 70,0,1")
        ->delimiter(',')
        ->capture_default_str();
    command.add_option("--spare", spare, "rows behind the last group")->capture_default_str();
    command.add_option("--capacity", capacity, "rows that each group has room for; 0: its own")
        ->capture_default_str();
    command.add_option("--n", n, "rows of each B, columns of D")->capture_default_str();
    command.add_option("--k", k, "columns of A and B")->capture_default_str();
    command.add_flag("--residual", residual, "D = A B^T + C");
    command.add_option("--data", data, "integers or position (exact), or normal")
        ->capture_default_str();
    command.add_option("--seed", seed)->capture_default_str();
    schedule.add_options(command);
  }

  const GroupedInstance* choose() const {
    for (const GroupedInstance& candidate : grouped_instances()) {
      if (instance.empty() ? arch == candidate.target : instance == candidate.name) {
        return &candidate;
      }
    }
    return nullptr;
  }

  // A sentence, or empty.
  std::string complaint() const {
    constexpr const char* rule = "{} is {}, but must be between 0 and 65536.";
    for (const auto& [name, value] :
         {std::pair("--n", n), {"--k", k}, {"--spare", spare}, {"--capacity", capacity}}) {
      if (value < 0 || value > 65536) return fmt::format(fmt::runtime(rule), name, value);
    }
    for (const std::int32_t size : sizes) {
      if (size < 0 || size > 65536) return fmt::format(fmt::runtime(rule), "A size", size);
      if (capacity > 0 && size > capacity) {
        return fmt::format("A size is {}, but --capacity is {} rows.", size, capacity);
      }
    }
    if (capacity > 0 && spare > 0) return "Groups with a --capacity have no --spare rows behind.";
    return "";
  }
};

void run(const GroupedRequest& request, Verdict& verdict) {
  const GroupedInstance* const instance = request.choose();
  if (instance == nullptr) {
    std::string known;
    for (const GroupedInstance& candidate : grouped_instances()) {
      known += fmt::format(" {} ({})", candidate.name, candidate.target);
    }
    return verdict.refuse("There is no such instance of grouped; there are" + known + ".");
  }
  const std::string wrong = request.complaint();
  if (!wrong.empty()) return verdict.refuse(wrong);
  const auto fill = fill_of(request.data);
  if (!fill) {
    return verdict.refuse(
        fmt::format("--data is '{}', but must be integers, normal or position.", request.data));
  }
  const Result<vgpu::Options> schedule = request.schedule.resolve();
  if (!schedule.status.is_good()) return verdict.refuse(schedule.status.sentence());

  GroupedShape shape = shape_for(*instance, request.sizes, request.spare, request.capacity);
  shape.matmul.n = request.n;
  shape.matmul.k = request.k;
  if (request.residual) shape.matmul.epilogue.beta = 1.0f;
  const VerifiedGrouped problem(shape, *fill, request.seed);
  std::string first_complaint;
  unsigned clean = 0;
  Comparison comparison;
  for (unsigned i = 0; i < request.schedules; ++i) {
    vgpu::Options options = *schedule.value;
    if (request.schedules > 1) options.landing = landings[i % std::size(landings)].second;
    options.seed += i;
    const VirtualRun ran = run_virtually(*instance, problem, options);
    if (!ran.status.is_good()) return verdict.refuse(ran.status.sentence());
    comparison = ran.comparison;
    if (ran.clean()) {
      ++clean;
    } else if (first_complaint.empty()) {
      first_complaint =
          fmt::format("{}replay: {}{}\n", ran.complaint(),
                      run_line(*instance, shape, *fill, request.seed), schedule_words(options));
    }
  }
  fmt::print("grouped, {} groups in {} rows x {} x {}, {} ({} stages) on the virtual GPU: ",
             shape.sizes.size(), shape.matmul.m, request.n, request.k, instance->name,
             instance->stages);
  if (request.schedules > 1) {
    fmt::print("{} of {} schedules are clean\n", clean, request.schedules);
  } else if (clean == 0) {
    fmt::print("wrong, or findings\n");
  } else if (comparison.exact) {
    fmt::print("all {} elements are exact\n", shape.matmul.m * shape.matmul.n);
  } else {
    fmt::print("the worst error is {:.2f} of its bound\n", comparison.worst);
  }
  fmt::print("{}", first_complaint);
  verdict.status = clean == request.schedules ? 0 : 1;
}

// Below ./tw run or ./tw check.
CLI::App* add_family(CLI::App& command, const std::shared_ptr<GroupedRequest>& request,
                     Verdict& verdict) {
  CLI::App* family = command.add_subcommand("grouped", "groups of rows, each with its own B");
  request->add_options(*family);
  family->callback([request, &verdict] { run(*request, verdict); });
  return family;
}

}  // namespace

void add_run_grouped(CLI::App& command, Verdict& verdict) {
  auto request = std::make_shared<GroupedRequest>();
  CLI::App* family = add_family(command, request, verdict);
  family->add_option("--on", request->on, "virtual, the only place so far")
      ->check(CLI::IsMember({"virtual"}));
}

void add_check_grouped(CLI::App& command, Verdict& verdict) {
  auto request = std::make_shared<GroupedRequest>();
  request->schedules = 40;
  CLI::App* family = add_family(command, request, verdict);
  family->add_option("--schedules", request->schedules, "how many")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
}

}  // namespace tw::cli
