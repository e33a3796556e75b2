// ./tw run blockwise and ./tw check blockwise, on the virtual GPU.
#include <fmt/format.h>

#include "src/blockwise_fp8/task.h"
#include "src/cli/family_request.h"
#include "src/matmul/epilogue_words.h"

namespace tw::cli {

namespace {

constexpr const char* meaning = "FP8 with scales of blocks of 128";

struct BlockwiseRequest : FamilyRequest {
  std::int64_t m = 200;
  std::int64_t n = 200;
  std::int64_t k = 500;
  std::int64_t batch = 1;
  int split_k = 1;
  std::string a_scales = "row";
  std::string b_scales = "row";
  bool unaligned_scales = false;
  std::string epilogue;

  void run(Verdict& verdict) const;

  void add_options(CLI::App& command) {
    add_instance_options(command, "the first of the target");
    command.add_option("--m", m, "rows of A and D")->capture_default_str();
    command.add_option("--n", n, "rows of B, columns of D")->capture_default_str();
    command.add_option("--k", k, "columns of A and B")->capture_default_str();
    command.add_option("--batch", batch, "products side by side")->capture_default_str();
    command.add_option("--split-k", split_k, "parts of each sum")->capture_default_str();
    command.add_option("--a-scales", a_scales, "row or column: what is contiguous")
        ->capture_default_str();
    command.add_option("--b-scales", b_scales, "row or column")->capture_default_str();
    command.add_flag("--unaligned-scales", unaligned_scales, "lines of scales off 16 bytes");
    command.add_option("--epilogue", epilogue,
                       "comma-separated: bias, gate, relu, residual and others, as of matmul");
    add_data_options(command);
  }

  // A sentence, or empty.
  std::string fill_shape(BlockwiseShape& shape) const {
    for (const auto& [name, value] : {std::pair("m", m), {"n", n}, {"k", k}, {"batch", batch}}) {
      if (value < 0 || value > 65536) {
        return fmt::format("--{} is {}, but must be between 0 and 65536.", name, value);
      }
    }
    shape.matmul.m = m;
    shape.matmul.n = n;
    shape.matmul.k = k;
    shape.matmul.batch = batch;
    for (const auto& [name, word, major] :
         {std::tuple("a", &a_scales, &shape.a_scales), {"b", &b_scales, &shape.b_scales}}) {
      if (*word != "row" && *word != "column") {
        return fmt::format("--{}-scales is '{}', but must be row or column.", name, *word);
      }
      *major = *word == "row" ? Major::K : Major::MN;
    }
    shape.unaligned_scales = unaligned_scales;
    return read_epilogue(shape.matmul.epilogue, epilogue);
  }
};

void BlockwiseRequest::run(Verdict& verdict) const {
  const Result<const BlockwiseInstance*> chosen =
      choose<BlockwiseInstance>("blockwise", blockwise_instances());
  if (!chosen.status.is_good()) return verdict.refuse(chosen.status.sentence());
  const BlockwiseInstance& instance = **chosen.value;
  BlockwiseShape shape = shape_for(instance);
  const std::string wrong = fill_shape(shape);
  if (!wrong.empty()) return verdict.refuse(wrong);
  const Result<Fill> fill = this->fill();
  if (!fill.status.is_good()) return verdict.refuse(fill.status.sentence());
  const Result<vgpu::Options> options = schedule.resolve();
  if (!options.status.is_good()) return verdict.refuse(options.status.sentence());
  MatmulOrder order;
  order.split_k = split_k;

  const VerifiedBlockwise problem(shape, *fill.value, seed);
  run_schedules(
      fmt::format("blockwise {} x {} x {}, {} ({} stages)", m, n, k, instance.name,
                  instance.stages),
      shape.matmul.outputs(), *options.value,
      [&](const vgpu::Options& schedule) {
        return run_virtually(instance, order, problem, schedule);
      },
      run_line(instance, order, shape, *fill.value, seed), verdict);
}

}  // namespace

void add_run_blockwise(CLI::App& command, Verdict& verdict) {
  add_run_family<BlockwiseRequest>(command, "blockwise", meaning, verdict);
}

void add_check_blockwise(CLI::App& command, Verdict& verdict) {
  add_check_family<BlockwiseRequest>(command, "blockwise", meaning, verdict);
}

}  // namespace tw::cli
