// ./tw run blockwise and ./tw check blockwise, on the virtual GPU.
#include "src/blockwise_fp8/task.h"
#include "src/cli/family_request.h"
#include "src/cli/product_request.h"

namespace tw::cli {

namespace {

constexpr const char* meaning = "FP8 with scales of blocks of 128";

struct BlockwiseRequest : FamilyRequest, ProductRequest {
  BlockwiseRequest() {
    m = n = 200;
    k = 500;
  }
  int split_k = 1;
  std::string a_scales = "row";
  std::string b_scales = "row";
  bool unaligned_scales = false;

  void run(Verdict& verdict) const;

  void add_options(CLI::App& command) {
    add_instance_options(command, "the first of the target");
    add_product_options(command);
    command.add_option("--split-k", split_k, "parts of each sum")->capture_default_str();
    command.add_option("--a-scales", a_scales, "row or column: what is contiguous")
        ->capture_default_str();
    command.add_option("--b-scales", b_scales, "row or column")->capture_default_str();
    command.add_flag("--unaligned-scales", unaligned_scales, "lines of scales off 16 bytes");
    add_data_options(command);
  }

  static Major major_of(const char* name, const std::string& word) {
    if (word == "row") return Major::K;
    if (word == "column") return Major::MN;
    refuse("--{}-scales is '{}', but must be row or column.", name, word);
  }
};

void BlockwiseRequest::run(Verdict& verdict) const {
  const Result<const BlockwiseInstance*> chosen =
      choose<BlockwiseInstance>("blockwise", blockwise_instances());
  if (!chosen.status.is_good()) return verdict.refuse(chosen.status.sentence());
  const BlockwiseInstance& instance = **chosen.value;
  const Fill fill = fill_named(data);
  const Result<vgpu::Options> options = schedule.resolve();
  if (!options.status.is_good()) return verdict.refuse(options.status.sentence());
  BlockwiseShape shape = shape_for(instance);
  fill_shape(shape.matmul, fill);
  shape.a_scales = major_of("a", a_scales);
  shape.b_scales = major_of("b", b_scales);
  shape.unaligned_scales = unaligned_scales;
  MatmulOrder order;
  order.split_k = split_k;

  const VerifiedBlockwise problem(shape, fill, seed);
  run_schedules(
      fmt::format("blockwise {} x {} x {}, {} ({} stages)", m, n, k, instance.name,
                  instance.stages),
      shape.matmul.outputs(), *options.value,
      [&](const vgpu::Options& schedule) {
        return run_virtually(instance, order, problem, schedule);
      },
      run_line(instance, order, shape, fill, seed), verdict);
}

}  // namespace

void add_run_blockwise(CLI::App& command, Verdict& verdict) {
  add_run_family<BlockwiseRequest>(command, "blockwise", meaning, verdict);
}

void add_check_blockwise(CLI::App& command, Verdict& verdict) {
  add_check_family<BlockwiseRequest>(command, "blockwise", meaning, verdict);
}

}  // namespace tw::cli
