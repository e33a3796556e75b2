// ./tw run requantised and ./tw check requantised, on the virtual GPU.
#include <fmt/format.h>

#include "src/cli/family_request.h"
#include "src/requantised/task.h"

namespace tw::cli {

namespace {

constexpr const char* meaning = "blockwise, and D quantised for the next product";

struct RequantisedRequest : FamilyRequest {
  std::int64_t m = 200;
  std::int64_t n = 300;
  std::int64_t k = 300;
  std::int64_t batch = 1;
  std::string a_scales = "row";
  std::string b_scales = "row";
  std::string d_scales = "row";
  bool powers_of_two = false;
  bool unaligned_scales = false;
  bool bias = false;
  bool residual = false;
  bool relu = false;

  void run(Verdict& verdict) const;

  void add_options(CLI::App& command) {
    add_instance_options(command, "the first of the target");
    command.add_option("--m", m, "rows of A and D")->capture_default_str();
    command.add_option("--n", n, "rows of B, columns of D")->capture_default_str();
    command.add_option("--k", k, "columns of A and B")->capture_default_str();
    command.add_option("--batch", batch, "products side by side")->capture_default_str();
    command.add_option("--a-scales", a_scales, "row or column: what is contiguous")
        ->capture_default_str();
    command.add_option("--b-scales", b_scales, "row or column")->capture_default_str();
    command.add_option("--d-scales", d_scales, "row or column")->capture_default_str();
    command.add_flag("--powers-of-two", powers_of_two, "D's scales are powers of two, rounded up");
    command.add_flag("--unaligned-scales", unaligned_scales, "lines of scales off 16 bytes");
    command.add_flag("--bias", bias, "a bias for each column");
    command.add_flag("--residual", residual, "D = A B^T + C");
    command.add_flag("--relu", relu, "what is negative becomes zero");
    add_data_options(command);
  }

  // A sentence, or empty.
  std::string fill_shape(RequantisedShape& shape) const {
    for (const auto& [name, value] : {std::pair("m", m), {"n", n}, {"k", k}, {"batch", batch}}) {
      if (value < 0 || value > 65536) {
        return fmt::format("--{} is {}, but must be between 0 and 65536.", name, value);
      }
    }
    for (const auto& [name, word, major] : {std::tuple("a", &a_scales, &shape.product.a_scales),
                                            {"b", &b_scales, &shape.product.b_scales},
                                            {"d", &d_scales, &shape.scales}}) {
      if (*word != "row" && *word != "column") {
        return fmt::format("--{}-scales is '{}', but must be row or column.", name, *word);
      }
      *major = *word == "row" ? Major::K : Major::MN;
    }
    if (data == "normal") {
      return "--data is 'normal', but must be integers or position: of others the elements are not "
             "known bit by bit.";
    }
    MatmulShape& matmul = shape.product.matmul;
    matmul.m = m;
    matmul.n = n;
    matmul.k = k;
    matmul.batch = batch;
    matmul.epilogue.column_bias = bias;
    if (residual) matmul.epilogue.beta = 1.0f;
    if (relu) matmul.epilogue.activation = Activation::Relu;
    shape.product.unaligned_scales = unaligned_scales;
    shape.rule = powers_of_two ? BlockScale::power_of_two : BlockScale::real;
    return "";
  }
};

void RequantisedRequest::run(Verdict& verdict) const {
  const Result<const RequantisedInstance*> chosen =
      choose<RequantisedInstance>("requantised", requantised_instances());
  if (!chosen.status.is_good()) return verdict.refuse(chosen.status.sentence());
  const RequantisedInstance& instance = **chosen.value;
  RequantisedShape shape = shape_for(instance);
  const std::string wrong = fill_shape(shape);
  if (!wrong.empty()) return verdict.refuse(wrong);
  const Fill fill = fill_named(data);
  const Result<vgpu::Options> options = schedule.resolve();
  if (!options.status.is_good()) return verdict.refuse(options.status.sentence());

  const VerifiedRequantised problem(shape, fill, seed);
  run_schedules(
      fmt::format("requantised {} x {} x {}, {} ({} stages)", m, n, k, instance.name,
                  instance.stages),
      shape.product.matmul.outputs(), *options.value,
      [&](const vgpu::Options& schedule) { return run_virtually(instance, problem, schedule); },
      run_line(instance, shape, fill, seed), verdict);
}

}  // namespace

void add_run_requantised(CLI::App& command, Verdict& verdict) {
  add_run_family<RequantisedRequest>(command, "requantised", meaning, verdict);
}

void add_check_requantised(CLI::App& command, Verdict& verdict) {
  add_check_family<RequantisedRequest>(command, "requantised", meaning, verdict);
}

}  // namespace tw::cli
