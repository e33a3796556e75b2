#include "src/families/conv2d_bench_cudnn.h"

#include <array>

namespace tw::bench::cudnn {

namespace {

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

}  // namespace

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

}  // namespace tw::bench::cudnn
