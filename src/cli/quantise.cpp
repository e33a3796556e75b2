// ./tw run quantise and ./tw check quantise, on the virtual GPU.
#include <fmt/format.h>

#include "src/cli/family_request.h"
#include "src/matmul/names.h"
#include "src/quantise/task.h"

namespace tw::cli {

namespace {

constexpr const char* meaning = "elements and scales of a matrix, for blockwise";

struct QuantiseRequest : FamilyRequest {
  std::int64_t m = 200;
  std::int64_t k = 500;
  std::int64_t batch = 1;
  std::int64_t scale_rows = 0;
  std::string source_type = "bf16";
  std::string element_type = "e4m3";
  std::string scales = "row";
  bool powers_of_two = false;
  bool unaligned = false;

  void run(Verdict& verdict) const;

  void add_options(CLI::App& command) {
    add_instance_options(command, "the first of the target that makes such scales");
    command.add_option("--m", m, "rows")->capture_default_str();
    command.add_option("--k", k, "columns")->capture_default_str();
    command.add_option("--batch", batch, "matrices")->capture_default_str();
    command.add_option("--scale-rows", scale_rows, "rows that share a scale: 1 or 128; 0: any");
    command.add_option("--source-type", source_type, "bf16, fp16 or fp32")->capture_default_str();
    command.add_option("--element-type", element_type, "e4m3 or e5m2")->capture_default_str();
    command.add_option("--scales", scales, "row or column: what is contiguous")
        ->capture_default_str();
    command.add_flag("--powers-of-two", powers_of_two, "scales are powers of two, rounded up");
    command.add_flag("--unaligned", unaligned, "lines of memory off 16 bytes");
    add_data_options(command);
  }

  // A sentence, or empty.
  std::string fill_shape(QuantiseShape& shape) const {
    for (const auto& [name, value] : {std::pair("m", m), {"k", k}, {"batch", batch}}) {
      if (value < 0 || value > 65536) {
        return fmt::format("--{} is {}, but must be between 0 and 65536.", name, value);
      }
    }
    const auto type_of = [](const std::string& word, ElementType& type) {
      for (const ElementType candidate : element_types) {
        if (word == name_of(candidate)) type = candidate;
      }
      return word == name_of(type);
    };
    if (!type_of(source_type, shape.source_type)) {
      return fmt::format("--source-type is '{}', but must be bf16, fp16 or fp32.", source_type);
    }
    if (!type_of(element_type, shape.element_type)) {
      return fmt::format("--element-type is '{}', but must be e4m3 or e5m2.", element_type);
    }
    if (scales != "row" && scales != "column") {
      return fmt::format("--scales is '{}', but must be row or column.", scales);
    }
    shape.m = m;
    shape.k = k;
    shape.batch = batch;
    shape.scales = scales == "row" ? Major::K : Major::MN;
    shape.rule = powers_of_two ? BlockScale::power_of_two : BlockScale::real;
    shape.unaligned = unaligned;
    // Types that there are, but not here.
    QuantiseProblem empty;
    empty.source_type = shape.source_type;
    empty.element_type = shape.element_type;
    return check(empty).sentence();
  }
};

void QuantiseRequest::run(Verdict& verdict) const {
  std::vector<QuantiseInstance> candidates;
  for (const QuantiseInstance& instance : quantise_instances()) {
    if (scale_rows == 0 || instance.scale_rows == scale_rows) candidates.push_back(instance);
  }
  if (candidates.empty()) {
    return verdict.refuse(fmt::format("--scale-rows is {}, but must be 1 or 128.", scale_rows));
  }
  const Result<const QuantiseInstance*> chosen = choose<QuantiseInstance>("quantise", candidates);
  if (!chosen.status.is_good()) return verdict.refuse(chosen.status.sentence());
  const QuantiseInstance& instance = **chosen.value;
  QuantiseShape shape;
  shape.scale_rows = instance.scale_rows;
  const std::string wrong = fill_shape(shape);
  if (!wrong.empty()) return verdict.refuse(wrong);
  const Fill fill = fill_named(data);
  const Result<vgpu::Options> options = schedule.resolve();
  if (!options.status.is_good()) return verdict.refuse(options.status.sentence());

  const VerifiedQuantise problem(shape, fill, seed);
  run_schedules(
      fmt::format("quantise {} x {}, {} -> {}, scales of {} x 128, {}", m, k, source_type,
                  element_type, instance.scale_rows, instance.name),
      batch * m * k, *options.value,
      [&](const vgpu::Options& schedule) { return run_virtually(instance, problem, schedule); },
      run_line(instance, shape, fill, seed), verdict);
}

}  // namespace

void add_run_quantise(CLI::App& command, Verdict& verdict) {
  add_run_family<QuantiseRequest>(command, "quantise", meaning, verdict);
}

void add_check_quantise(CLI::App& command, Verdict& verdict) {
  add_check_family<QuantiseRequest>(command, "quantise", meaning, verdict);
}

}  // namespace tw::cli
