#include "src/cli/product_request.h"

#include <cmath>
#include <sstream>

#include "src/instances/names.h"
#include "src/verify/data.h"

namespace tw::cli {

void check_between(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) {
    refuse("--{} is {}, but must be between {} and {}.", name, value, low, high);
  }
}

ElementType type_named(const char* option, const std::string& name, ElementType usual) {
  if (name.empty()) return usual;
  if (const auto type = element_type_of(name)) return *type;
  std::string known;
  for (const ElementType type : element_types) known += fmt::format(" {}", name_of(type));
  refuse("There is no type '{}' for --{}; there are{}.", name, option, known);
}

Fill fill_named(const std::string& name) {
  if (const auto fill = fill_of(name)) return *fill;
  refuse("--data is '{}', but must be integers, normal or position.", name);
}

Spacing spacing_named(const std::string& name) {
  if (const auto spacing = spacing_of(name)) return *spacing;
  refuse("--spacing is '{}', but must be usual, four, eight, gaps or far.", name);
}

namespace {

void check_finite(const char* name, float value) {
  if (!std::isfinite(value)) refuse("--{} is {}, but must be a finite number.", name, value);
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

EpilogueShape epilogue_of(const EpilogueRequest& request, bool& quantise) {
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

}  // namespace

void EpilogueRequest::add_epilogue_options(CLI::App& command) {
  command.add_option("--alpha", alpha)->capture_default_str();
  command.add_option("--beta", beta, "0: no C")->capture_default_str();
  command.add_option("--epilogue", epilogue, "comma-separated: " + known_nodes());
  command.add_option("--output-scale", output_scale, "0: 1, or what quantise chooses");
  command.add_option("--clamp-low", clamp_low)->capture_default_str();
  command.add_option("--clamp-high", clamp_high)->capture_default_str();
  command.add_option("--source-type", source_type, "of C")->capture_default_str();
  command.add_option("--bias-type", bias_type, "of biases")->capture_default_str();
  command.add_option("--auxiliary-type", auxiliary_type)->capture_default_str();
}

void EpilogueRequest::fill_epilogue(MatmulShape& shape, Fill fill) const {
  bool quantise = false;
  shape.epilogue = epilogue_of(*this, quantise);
  if (shape.epilogue.gated && shape.n % 2 != 0) {
    refuse("--n is {}, but a gate makes one column of two: n must be even.", shape.n);
  }
  if (quantise) shape.epilogue.output_scale = fitting_output_scale(shape, fill);
  if (output_scale != 0.0f) shape.epilogue.output_scale = output_scale;
}

void OrderRequest::add_parts(CLI::App& command, const char* parts, const char* streams) {
  command.add_option("--split-k", split_k, parts)->capture_default_str();
  command.add_flag("--stream-k", stream_k, streams);
}

void OrderRequest::add_options(CLI::App& command) {
  add_parts(command, "parts of each sum", "sums in parts of equal work");
  command.add_option("--group", group, "tiles per raster group; 0: chosen")->capture_default_str();
  command.add_option("--raster", raster, "m or n")->capture_default_str();
}

LaunchOrder OrderRequest::resolve() const {
  check_between("split-k", split_k, 1, 1024);
  if (split_k > 1 && stream_k) {
    refuse("--split-k is {}, but --stream-k cuts sums itself.", split_k);
  }
  if (raster != "m" && raster != "n") refuse("--raster is '{}', but must be m or n.", raster);
  if (group < 0) refuse("--group is {}, but must be at least 0.", group);
  return {group, raster == "m" ? Raster::AlongM : Raster::AlongN, split_k, stream_k};
}

}  // namespace tw::cli
