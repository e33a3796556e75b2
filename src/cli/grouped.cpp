// ./tw run grouped and ./tw check grouped, on the virtual GPU.
#include <fmt/format.h>

#include "src/cli/family_request.h"
#include "src/cli/number_list.h"
#include "src/grouped/task.h"

namespace tw::cli {

namespace {

constexpr const char* meaning = "groups of rows, each with its own B";

struct GroupedRequest : FamilyRequest, EpilogueRequest {
  std::vector<std::int32_t> sizes = {70, 0, 1, 300, 5};
  std::int64_t spare = 0;
  std::int64_t capacity = 0;
  std::int64_t n = 200;
  std::int64_t k = 200;
  std::int64_t a_rows = 100;
  bool column_scales = false;

  void run(Verdict& verdict) const;

  void add_options(CLI::App& command) {
    add_instance_options(command, "the first of the target");
    add_number_list(command, "--sizes", sizes, "rows of each group: 70,0,1");
    command.add_option("--spare", spare, "rows behind the last group")->capture_default_str();
    command.add_option("--capacity", capacity, "rows that each group has room for; 0: its own")
        ->capture_default_str();
    command.add_option("--n", n, "rows of each B, columns of D")->capture_default_str();
    command.add_option("--k", k, "columns of A and B")->capture_default_str();
    command.add_option("--a-rows", a_rows, "rows of A, where an instance gathers them")
        ->capture_default_str();
    command.add_flag("--column-scales", column_scales, "column-major, where there are scales");
    add_epilogue_options(command);
    add_data_options(command);
  }

  // A sentence, or empty.
  std::string complaint() const {
    constexpr const char* rule = "{} is {}, but must be between 0 and 65536.";
    for (const auto& [name, value] :
         {std::pair("--n", n), {"--k", k}, {"--spare", spare}, {"--capacity", capacity}}) {
      if (value < 0 || value > 65536) return fmt::format(fmt::runtime(rule), name, value);
    }
    if (a_rows < 1 || a_rows > 65536) {
      return fmt::format("--a-rows is {}, but must be between 1 and 65536.", a_rows);
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

void GroupedRequest::run(Verdict& verdict) const {
  const Result<const GroupedInstance*> chosen =
      choose<GroupedInstance>("grouped", grouped_instances());
  if (!chosen.status.is_good()) return verdict.refuse(chosen.status.sentence());
  const GroupedInstance& instance = **chosen.value;
  const std::string wrong = complaint();
  if (!wrong.empty()) return verdict.refuse(wrong);
  const Fill fill = fill_named(data);
  const Result<vgpu::Options> options = schedule.resolve();
  if (!options.status.is_good()) return verdict.refuse(options.status.sentence());

  GroupedShape shape = shape_for(instance, sizes, spare, capacity);
  shape.matmul.n = n;
  shape.matmul.k = k;
  if (instance.gathers) shape.a_rows = a_rows;
  shape.column_scales = instance.b_scale_rows > 0 && column_scales;
  fill_epilogue(shape.matmul, fill);
  const VerifiedGrouped problem(shape, fill, seed);
  run_schedules(
      fmt::format("grouped, {} groups in {} rows x {} x {}, {} ({} stages)", shape.sizes.size(),
                  shape.matmul.m, n, k, instance.name, instance.stages),
      shape.matmul.m * shape.matmul.n, *options.value,
      [&](const vgpu::Options& schedule) { return run_virtually(instance, problem, schedule); },
      run_line(instance, shape, fill, seed), verdict);
}

}  // namespace

void add_run_grouped(CLI::App& command, Verdict& verdict) {
  add_run_family<GroupedRequest>(command, "grouped", meaning, verdict);
}

void add_check_grouped(CLI::App& command, Verdict& verdict) {
  add_check_family<GroupedRequest>(command, "grouped", meaning, verdict);
}

}  // namespace tw::cli
