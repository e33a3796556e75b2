#include "src/cli/matmul_request.h"

#include "src/cli/choose_instance.h"
#include "src/matmul/gpu.h"
#include "src/matmul/names.h"
#include "src/run/on_gpu.h"
#include "tilewright/host/targets.h"

namespace tw::cli {

namespace {

// D's type where nobody says it: that which kernels of A's type store.
ElementType output_of(ElementType a_type) {
  switch (a_type) {
    case ElementType::S8: return ElementType::S32;
    case ElementType::Fp16: return ElementType::Fp16;
    case ElementType::Tf32: return ElementType::Fp32;
    default: return ElementType::Bf16;
  }
}

// What is not said is as the named instance has it, or bf16 and tn.
void take_types(MatmulShape& shape, const MatmulRequest& request, const Instance* named) {
  const MatmulConfig usual = named != nullptr ? config_of(*named) : MatmulConfig{};
  shape.a_type = type_named("a-type", request.a_type, usual.tiling.a_type);
  const bool follows = named == nullptr || !request.a_type.empty();
  shape.b_type = type_named("b-type", request.b_type, follows ? shape.a_type : usual.tiling.b_type);
  const ElementType output = output_of(shape.a_type);
  shape.d_type = type_named("d-type", request.d_type, named != nullptr ? usual.d_type : output);
  shape.a_major = usual.tiling.a_major;
  shape.b_major = usual.tiling.b_major;
  if (request.layout.empty()) return;
  for (const Major a : {Major::K, Major::MN}) {
    for (const Major b : {Major::K, Major::MN}) {
      if (request.layout != layout_name(a, b)) continue;
      shape.a_major = a;
      shape.b_major = b;
      return;
    }
  }
  refuse("There is no layout '{}'; there are tn, tt, nn and nt.", request.layout);
}

}  // namespace

void MatmulRequest::add_options(CLI::App& command) {
  // Not ->required(): such a word would come before subcommands, other families.
  command.add_option("family", family, "the kernel family: matmul");
  command.add_option("--arch", arch,
                     "the target: " + target_names(" or ") + "; empty: " + usual_target);
  add_product_options(command);
  command.add_option("--a-type", a_type, "of A: bf16, fp16, tf32, e4m3, e5m2 or s8");
  command.add_option("--b-type", b_type, "of B; empty: as A");
  command.add_option("--d-type,--c-type", d_type,
                     "of D; empty: bf16, but fp16 for fp16, fp32 for tf32, s32 for s8");
  command.add_option("--layout", layout, "of A and B in BLAS's letters: tn, tt, nn or nt");
  command.add_option("--instance", instance, "by name; empty: the first that serves");
  command.add_option("--cluster", cluster, "CTAs along m x n, e.g. 2x1; empty: any");
  command.add_option("--consumers", consumers, "cooperative or ping-pong; empty: any");
  command.add_option("--tile", tile, "m x n of a CTA's tile; empty: any");
  order.add_options(command);
  command.add_option("--seed", seed)->capture_default_str();
  command.add_option("--data", data, "integers or position (exact), or normal")
      ->capture_default_str();
}

Result<MatmulTask> MatmulRequest::resolve(Tracing tracing) const {
  try {
    MatmulTask task;
    if (family.empty())
      refuse(
          "family is required: matmul, or, of run and check, conv2d, blockwise, grouped, "
          "quantise or requantised.");
    if (family != "matmul")
      refuse(
          "There is no family '{}'; there are matmul and, of run and check, conv2d, blockwise, "
          "grouped, quantise and requantised.",
          family);
    const Wish wish = {arch, instance, tile, cluster, consumers, tracing};
    if (Status known = check_words(wish); !known.is_good()) throw Refused{known.sentence()};
    task.order = order.resolve();
    task.fill = fill_named(data);
    task.seed = seed;

    MatmulShape& shape = task.shape;
    take_types(shape, *this, instance_named(instance));
    fill_shape(shape, task.fill);

    const Result<const Instance*> chosen = choose_instance(wish, shape, task.order);
    if (!chosen.status.is_good()) throw Refused{chosen.status.sentence()};
    task.instance = *chosen.value;
    return {Status::good(), task};
  } catch (const Refused& refused) {
    return {Status::refused(refused.sentence), std::nullopt};
  }
}

void add_on_option(CLI::App& command, std::string& on) {
  command.add_option("--on", on, "gpu or virtual; empty: the GPU when there is one that can");
}

Result<bool> runs_on_gpu(const std::string& on, const Instance& instance) {
  if (!on.empty() && on != "gpu" && on != "virtual") {
    return {Status::refused(fmt::format("--on is '{}', but must be gpu or virtual.", on)),
            std::nullopt};
  }
  const std::string no_gpu = why_not_on_gpu(instance);
  if (on == "gpu" && !no_gpu.empty()) return {Status::refused(no_gpu), std::nullopt};
  return {Status::good(), on != "virtual" && no_gpu.empty()};
}

}  // namespace tw::cli
