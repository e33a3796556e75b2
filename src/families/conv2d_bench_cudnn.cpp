#include "src/families/conv2d_bench_cudnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

namespace tw::bench::cudnn {

namespace {

constexpr std::int64_t most_workspace_bytes = std::int64_t{4} << 30;

DataType type_of(ElementType type) {
  return type == ElementType::Fp16 ? DataType::Half : DataType::Bfloat16;
}

// Dimensions in the order n, c, h, w; in memory c is innermost.
Descriptor tensor(const Functions& functions, std::int64_t id, DataType type,
                  std::array<std::int64_t, 4> extents, bool is_virtual) {
  const auto [n, c, h, w] = extents;
  Descriptor result(functions, Kind::Tensor);
  result.set(Attribute::TensorType, Type::DataType, type)
      .set(Attribute::TensorDimensions, {n, c, h, w})
      .set(Attribute::TensorStrides, {h * w * c, 1, w * c, c})
      .set(Attribute::TensorId, {id})
      .set(Attribute::TensorAlignment, {16});
  if (is_virtual) result.set(Attribute::TensorIsVirtual, Type::Boolean, true);
  return result.finalize();
}

Descriptor pointwise(const Functions& functions, Pointwise mode, const Descriptor& x,
                     const Descriptor* b, const Descriptor& y) {
  Descriptor kind(functions, Kind::Pointwise);
  kind.set(Attribute::PointwiseMode, Type::PointwiseMode, mode)
      .set(Attribute::PointwisePrecision, Type::DataType, DataType::Float)
      .finalize();
  Descriptor operation(functions, Kind::PointwiseOperation);
  operation.set(Attribute::OperationPointwise, kind).set(Attribute::OperationX, x);
  if (b != nullptr) operation.set(Attribute::OperationB, *b);
  return operation.set(Attribute::OperationY, y).finalize();
}

Descriptor forward(const Functions& functions, const tw_conv2d_problem& what,
                   const Descriptor& image, const Descriptor& filter, const Descriptor& output) {
  Descriptor convolution(functions, Kind::Convolution);
  const tw_conv2d_axis &h = what.h, &w = what.w;
  convolution.set(Attribute::ConvolutionPrecision, Type::DataType, DataType::Float)
      .set(Attribute::ConvolutionMode, Type::ConvolutionMode, cross_correlation)
      .set(Attribute::ConvolutionSides, {2})
      .set(Attribute::ConvolutionLowerPadding, {h.pad_low, w.pad_low})
      .set(Attribute::ConvolutionUpperPadding, {h.pad_high, w.pad_high})
      .set(Attribute::ConvolutionStrides, {h.stride, w.stride})
      .set(Attribute::ConvolutionDilations, {h.dilation, w.dilation})
      .finalize();
  Descriptor operation(functions, Kind::ConvolutionForward);
  return operation.set(Attribute::ForwardConvolution, convolution)
      .set(Attribute::ForwardImage, image)
      .set(Attribute::ForwardFilter, filter)
      .set(Attribute::ForwardOutput, output)
      .set(Attribute::ForwardAlpha, Type::Float, 1.0f)
      .set(Attribute::ForwardBeta, Type::Float, 0.0f)
      .finalize();
}

// What tells two configurations apart: the engine and its knobs.
std::string name_of(const Functions& functions, const Descriptor& config) {
  Descriptor engine(functions, Kind::Engine);
  void* raw = engine.raw();
  config.get(Attribute::ConfigEngine, Type::Descriptor, 1, &raw);
  std::int64_t index = -1;
  engine.get(Attribute::EngineIndex, Type::Int64, 1, &index);
  std::string name = fmt::format("cudnn:{}", index);
  std::vector<Descriptor> knobs;
  std::vector<void*> raws;
  for (int i = 0; i < knob_types; ++i) {
    raws.push_back(knobs.emplace_back(functions, Kind::KnobChoice).raw());
  }
  const std::int64_t count =
      config.get(Attribute::ConfigKnobChoices, Type::Descriptor, knob_types, raws.data());
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, knob_types); ++i) {
    int type = -1;
    std::int64_t value = -1;
    knobs[i].get(Attribute::KnobType, Type::KnobType, 1, &type);
    knobs[i].get(Attribute::KnobValue, Type::Int64, 1, &value);
    name += fmt::format("{}{}={}", i == 0 ? "/" : ",", type, value);
  }
  return name;
}

std::vector<Descriptor> configs_of(const Target& target, const Descriptor& graph, Heuristic mode) {
  const Functions& functions = *target.functions;
  Descriptor heuristic(functions, Kind::Heuristic);
  heuristic.set(Attribute::HeuristicGraph, graph)
      .set(Attribute::HeuristicMode, Type::HeuristicMode, mode);
  if (target.properties) heuristic.set(Attribute::HeuristicProperties, *target.properties);
  heuristic.finalize();
  const std::int64_t room =
      heuristic.get(Attribute::HeuristicResults, Type::Descriptor, 0, nullptr);
  std::vector<Descriptor> configs;
  std::vector<void*> raw;
  for (std::int64_t i = 0; i < room; ++i) {
    raw.push_back(configs.emplace_back(functions, Kind::EngineConfig).raw());
  }
  const std::int64_t count =
      heuristic.get(Attribute::HeuristicResults, Type::Descriptor, room, raw.data());
  configs.erase(configs.begin() + std::min(count, room), configs.end());
  return configs;
}

}  // namespace

std::string Target::last_error() const {
  char text[512] = {};
  functions->last_error(text, sizeof text);
  return text;
}

// The residual before the bias: the pattern for which cuDNN has kernels of its own. What lies
// between two operations is float.
Descriptor graph_of(const Target& target, const tw_conv2d_problem& what) {
  const Functions& functions = *target.functions;
  const DataType type = type_of(static_cast<ElementType>(what.type));
  const std::array<std::int64_t, 4> output = {what.n, what.k, outputs_of(what.h),
                                              outputs_of(what.w)};
  const bool has_residual = what.epilogue.source.data != nullptr,
             has_bias = what.epilogue.column_bias != nullptr,
             has_relu = what.epilogue.activation == TW_RELU;
  int left = has_residual + has_bias + has_relu;
  std::int64_t next = FirstVirtualId;
  const auto result = [&] {
    const bool last = left-- == 0;
    return last ? tensor(functions, OutputId, type, output, false)
                : tensor(functions, next++, DataType::Float, output, true);
  };
  Descriptor value = result();
  std::vector<Descriptor> operations = {forward(
      functions, what,
      tensor(functions, ImageId, type, {what.n, what.c, what.h.extent, what.w.extent}, false),
      tensor(functions, FilterId, type,
             {what.k, what.c / what.groups, what.h.filter, what.w.filter}, false),
      value)};
  const auto apply = [&](Pointwise mode, const Descriptor* with) {
    const Descriptor after = result();
    operations.push_back(pointwise(functions, mode, value, with, after));
    value = after;
  };
  if (has_residual) {
    const Descriptor residual = tensor(functions, ResidualId, type, output, false);
    apply(Pointwise::Add, &residual);
  }
  if (has_bias) {
    const Descriptor bias = tensor(functions, BiasId, type, {1, what.k, 1, 1}, false);
    apply(Pointwise::Add, &bias);
  }
  if (has_relu) apply(Pointwise::Relu, nullptr);

  Descriptor graph(functions, Kind::Graph);
  if (target.handle != nullptr) graph.set(Attribute::GraphHandle, Type::Handle, target.handle);
  return graph.set(Attribute::GraphOperations, std::span<const Descriptor>(operations)).finalize();
}

std::vector<Plan> plans_of(const Target& target, const Descriptor& graph, int most,
                           double seconds) {
  std::vector<Plan> plans;
  std::set<std::string> seen;
  const auto begin = std::chrono::steady_clock::now();
  const auto is_late = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >
           seconds;
  };
  for (const Heuristic mode : {Heuristic::A, Heuristic::B, Heuristic::Fallback}) {
    for (const Descriptor& config : configs_of(target, graph, mode)) {
      if (static_cast<int>(plans.size()) == most || (!plans.empty() && is_late())) return plans;
      const std::string name = name_of(*target.functions, config);
      if (!seen.insert(name).second) continue;
      Descriptor plan(*target.functions, Kind::Plan);
      if (target.handle != nullptr) plan.set(Attribute::PlanHandle, Type::Handle, target.handle);
      if (target.properties) plan.set(Attribute::PlanProperties, *target.properties);
      plan.set(Attribute::PlanConfig, config).finalize();
      std::int64_t bytes = 0;
      plan.get(Attribute::PlanWorkspace, Type::Int64, 1, &bytes);
      if (plan.is_good() && bytes <= most_workspace_bytes) plans.push_back({name, plan, bytes});
    }
  }
  return plans;
}

}  // namespace tw::bench::cudnn
