#include "src/cli/matmul_request.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>
#include <utility>

#include "src/cli/choose_instance.h"
#include "src/matmul/gpu.h"
#include "src/matmul/names.h"

namespace tw::cli {

namespace {

// What is wrong with a request, found deep inside.
struct Refused {
  std::string sentence;
};

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Refused{fmt::format(format, std::forward<Arguments>(arguments)...)};
}

void check_between(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) {
    refuse("--{} is {}, but must be between {} and {}.", name, value, low, high);
  }
}

void check_finite(const char* name, float value) {
  if (!std::isfinite(value)) refuse("--{} is {}, but must be a finite number.", name, value);
}

// `usual` where the option is empty.
ElementType type_named(const char* option, const std::string& name, ElementType usual) {
  if (name.empty()) return usual;
  if (const auto type = element_type_of(name)) return *type;
  std::string known;
  for (const ElementType type : element_types) known += fmt::format(" {}", name_of(type));
  refuse("There is no type '{}' for --{}; there are{}.", name, option, known);
}

ElementType float_type_named(const char* option, const std::string& name) {
  const ElementType type = type_named(option, name, ElementType::Bf16);
  if (type != ElementType::Bf16 && type != ElementType::Fp16 && type != ElementType::Fp32) {
    refuse("--{} is {}, but must be bf16, fp16 or fp32.", option, name);
  }
  return type;
}

std::string known_nodes() {
  std::string known;
  for (const auto& [name, present] : epilogue_switches) known += fmt::format("{}, ", name);
  for (const Activation activation : activations) known += fmt::format("{}, ", name_of(activation));
  return known + "residual and quantise";
}

// One word of --epilogue.
void add_node(EpilogueShape& epilogue, bool& quantise, const std::string& node) {
  for (const auto& [name, present] : epilogue_switches) {
    if (node != name) continue;
    epilogue.*present = true;
    return;
  }
  for (const Activation activation : activations) {
    if (node != name_of(activation)) continue;
    if (epilogue.activation != Activation::None && epilogue.activation != activation) {
      refuse("--epilogue names two activations, {} and {}; there can be one.",
             name_of(epilogue.activation), node);
    }
    epilogue.activation = activation;
    return;
  }
  if (node == "residual") {
    if (epilogue.beta == 0.0f) epilogue.beta = 1.0f;
  } else if (node == "quantise") {
    quantise = true;
  } else {
    refuse("There is no epilogue '{}'; there are {}.", node, known_nodes());
  }
}

EpilogueShape epilogue_of(const MatmulRequest& request, bool& quantise) {
  EpilogueShape epilogue;
  check_finite("alpha", epilogue.alpha = request.alpha);
  check_finite("beta", epilogue.beta = request.beta);
  check_finite("output-scale", request.output_scale);
  std::stringstream nodes(request.epilogue);
  for (std::string node; std::getline(nodes, node, ',');) add_node(epilogue, quantise, node);
  if (epilogue.activation == Activation::Clamp) {
    check_finite("clamp-low", epilogue.clamp_low = request.clamp_low);
    check_finite("clamp-high", epilogue.clamp_high = request.clamp_high);
    if (epilogue.clamp_low > epilogue.clamp_high) {
      refuse("--clamp-low is {}, but must not exceed --clamp-high, {}.", epilogue.clamp_low,
             epilogue.clamp_high);
    }
  }
  epilogue.source_type = float_type_named("source-type", request.source_type);
  epilogue.bias_type = float_type_named("bias-type", request.bias_type);
  epilogue.auxiliary_type = float_type_named("auxiliary-type", request.auxiliary_type);
  return epilogue;
}

// What is not said is as the named instance has it, or bf16 and tn.
void take_types(MatmulShape& shape, const MatmulRequest& request, const MatmulInstance* named) {
  const MatmulConfig usual = named != nullptr ? named->config : MatmulConfig{};
  shape.a_type = type_named("a-type", request.a_type, usual.a_type);
  const bool follows = named == nullptr || !request.a_type.empty();
  shape.b_type = type_named("b-type", request.b_type, follows ? shape.a_type : usual.b_type);
  const ElementType output = is_integer(shape.a_type) ? ElementType::S32 : ElementType::Bf16;
  shape.d_type = type_named("d-type", request.d_type, named != nullptr ? usual.d_type : output);
  shape.a_major = usual.a_major;
  shape.b_major = usual.b_major;
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

Fill fill_named(const std::string& name) {
  if (const auto fill = fill_of(name)) return *fill;
  refuse("--data is '{}', but must be integers, normal or position.", name);
}

}  // namespace

void MatmulRequest::add_options(CLI::App& command) {
  // Not ->required(): such a word would come before subcommands, other families.
  command.add_option("family", family, "the kernel family: matmul");
  command.add_option("--arch", arch, "the target: sm80, sm90a or sm100a; empty: sm90a");
  command.add_option("--m", m, "rows of A and D")->capture_default_str();
  command.add_option("--n", n, "rows of B, columns of D")->capture_default_str();
  command.add_option("--k", k, "columns of A and B")->capture_default_str();
  command.add_option("--batch", batch, "products side by side")->capture_default_str();
  command.add_option("--a-type", a_type, "of A: bf16, fp16, tf32, e4m3, e5m2 or s8");
  command.add_option("--b-type", b_type, "of B; empty: as A");
  command.add_option("--d-type,--c-type", d_type, "of D; empty: bf16, or s32 for s8");
  command.add_option("--layout", layout, "of A and B in BLAS's letters: tn, tt, nn or nt");
  command.add_flag("--shared-b", shared_b, "one B for the whole batch");
  command.add_flag("--unaligned", unaligned, "lines of memory off 16 bytes");
  command.add_option("--alpha", alpha)->capture_default_str();
  command.add_option("--beta", beta, "0: no C")->capture_default_str();
  command.add_option("--epilogue", epilogue, "comma-separated: " + known_nodes());
  command.add_option("--output-scale", output_scale, "0: 1, or what quantise chooses");
  command.add_option("--clamp-low", clamp_low)->capture_default_str();
  command.add_option("--clamp-high", clamp_high)->capture_default_str();
  command.add_option("--source-type", source_type, "of C")->capture_default_str();
  command.add_option("--bias-type", bias_type, "of biases")->capture_default_str();
  command.add_option("--auxiliary-type", auxiliary_type)->capture_default_str();
  command.add_option("--instance", instance, "by name; empty: the first that serves");
  command.add_option("--cluster", cluster, "CTAs along m x n, e.g. 2x1; empty: any");
  command.add_option("--consumers", consumers, "cooperative or ping-pong; empty: any");
  command.add_option("--tile", tile, "m x n of a CTA's tile; empty: any");
  command.add_option("--split-k", split_k, "parts of each sum")->capture_default_str();
  command.add_flag("--stream-k", stream_k, "sums in parts of equal work");
  command.add_option("--group", group, "tiles per raster group; 0: chosen")->capture_default_str();
  command.add_option("--raster", raster, "m or n")->capture_default_str();
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
    check_between("m", m, 0, 65536);
    check_between("n", n, 0, 65536);
    check_between("k", k, 0, 65536);
    check_between("batch", batch, 1, 65535);
    check_between("split-k", split_k, 1, 1024);
    if (split_k > 1 && stream_k)
      refuse("--split-k is {}, but --stream-k cuts sums itself.", split_k);
    if (raster != "m" && raster != "n") refuse("--raster is '{}', but must be m or n.", raster);
    if (group < 0) refuse("--group is {}, but must be at least 0.", group);
    task.order.group = group;
    task.order.raster = raster == "m" ? Raster::AlongM : Raster::AlongN;
    task.order.split_k = split_k;
    task.order.stream_k = stream_k;
    task.fill = fill_named(data);
    task.seed = seed;

    MatmulShape& shape = task.shape;
    shape.m = m;
    shape.n = n;
    shape.k = k;
    shape.batch = batch;
    shape.shared_b = shared_b;
    shape.unaligned = unaligned;
    take_types(shape, *this, instance_named(instance));
    bool quantise = false;
    shape.epilogue = epilogue_of(*this, quantise);
    if (shape.epilogue.gated && n % 2 != 0) {
      refuse("--n is {}, but a gate makes one column of two: n must be even.", n);
    }
    if (quantise) shape.epilogue.output_scale = fitting_output_scale(shape, task.fill);
    if (output_scale != 0.0f) shape.epilogue.output_scale = output_scale;

    const Result<const MatmulInstance*> chosen = choose_instance(wish, shape, task.order);
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

Result<bool> runs_on_gpu(const std::string& on, const MatmulInstance& instance) {
  if (!on.empty() && on != "gpu" && on != "virtual") {
    return {Status::refused(fmt::format("--on is '{}', but must be gpu or virtual.", on)),
            std::nullopt};
  }
  const std::string no_gpu = why_not_on_gpu(instance);
  if (on == "gpu" && !no_gpu.empty()) return {Status::refused(no_gpu), std::nullopt};
  return {Status::good(), on != "virtual" && no_gpu.empty()};
}

}  // namespace tw::cli
