// libcudnn, opened when it is asked for: what measures beside it builds and runs without it.
// Declares the part of its C interface ("backend", version 9) that is used here; tests/bench makes
// plans with it, which needs no GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tw::bench::cudnn {

enum class Kind : int {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfig = 3,
  Heuristic = 4,
  Plan = 5,
  KnobChoice = 7,
  ConvolutionForward = 10,
  PointwiseOperation = 13,
  Graph = 15,
  VariantPack = 16,
  Tensor = 17,
  Product = 18,
  ProductOperation = 19,
  Reduction = 21,
  ReductionOperation = 22,
  DeviceProperties = 38,
};

enum class Attribute : int {
  PointwiseMode = 0,
  PointwisePrecision = 1,
  PointwiseAxis = 9,
  ConvolutionPrecision = 100,
  ConvolutionMode = 101,
  ConvolutionDilations = 102,
  ConvolutionStrides = 103,
  ConvolutionUpperPadding = 104,
  ConvolutionLowerPadding = 105,
  ConvolutionSides = 106,
  HeuristicMode = 200,
  HeuristicGraph = 201,
  HeuristicResults = 202,
  HeuristicProperties = 204,
  ConfigEngine = 300,
  ConfigKnobChoices = 302,
  PlanHandle = 400,
  PlanConfig = 401,
  PlanWorkspace = 402,
  PlanProperties = 407,
  KnobType = 600,
  KnobValue = 601,
  ForwardAlpha = 700,
  ForwardBeta = 701,
  ForwardConvolution = 702,
  ForwardFilter = 703,
  ForwardImage = 704,
  ForwardOutput = 705,
  OperationPointwise = 750,
  OperationX = 751,
  OperationB = 752,
  OperationY = 753,
  OperationCondition = 758,
  GraphHandle = 800,
  GraphOperations = 801,
  TensorAlignment = 900,
  TensorType = 901,
  TensorDimensions = 902,
  TensorStrides = 903,
  TensorId = 906,
  TensorIsVirtual = 907,
  TensorIsByValue = 908,
  PackIds = 1000,
  PackPointers = 1001,
  PackWorkspace = 1003,
  EngineIndex = 1301,
  ProductPrecision = 1500,
  ProductA = 1520,
  ProductB = 1521,
  ProductC = 1522,
  OperationProduct = 1523,
  ReductionOperator = 1600,
  ReductionPrecision = 1601,
  ReductionX = 1610,
  ReductionY = 1611,
  OperationReduction = 1612,
  PropertiesText = 2702,
};

enum class Type : int {
  Handle = 0,
  DataType = 1,
  Boolean = 2,
  Int64 = 3,
  Float = 4,
  Pointer = 6,
  ConvolutionMode = 7,
  HeuristicMode = 8,
  KnobType = 9,
  PointwiseMode = 14,
  Descriptor = 15,
  ReductionOperator = 18,
  Character = 24,
};

enum class DataType : int { Float = 0, Half = 2, Int32 = 4, Bfloat16 = 9, Boolean = 11, E4m3 = 12 };
enum class Pointwise : int {
  Add = 0,
  Multiply = 1,
  Divide = 6,
  Subtract = 9,
  Exponential = 13,
  Logarithm = 15,
  Relu = 100,
  NotLess = 303,
  Place = 501,  // an element's, along an axis
  Choose = 601,
};
enum class Reduction : int { Sum = 0, Largest = 3, LargestMagnitude = 4 };
enum class Heuristic : int { B = 1, Fallback = 2, A = 3 };
inline constexpr int cross_correlation = 1;
inline constexpr int knob_types = 44;  // there are at most so many choices

using Handle = struct Context*;

struct Functions {
  std::size_t (*version)();
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*set_stream)(Handle, void* stream);
  void (*last_error)(char* text, std::size_t room);
  int (*create_descriptor)(int kind, void** descriptor);
  int (*destroy_descriptor)(void*);
  int (*finalize)(void*);
  int (*set)(void*, int attribute, int type, std::int64_t count, const void* values);
  int (*get)(void*, int attribute, int type, std::int64_t room, std::int64_t* count, void* values);
  int (*execute)(Handle, void* plan, void* variant_pack);
};

// The library, from where TW_CUDNN says (a file), from where the loader looks, or from the package
// that comes with PyTorch. Null where there is none; `why` is then a sentence.
const Functions* open(std::string& why);

// Remembers its first error, which then is every later one's: the last call tells.
class Descriptor {
 public:
  Descriptor(const Functions& functions, Kind kind);
  template <class T>
  Descriptor& set(Attribute attribute, Type type, std::span<const T> values) {
    return set(attribute, type, static_cast<std::int64_t>(values.size()), values.data());
  }
  template <class T>
  Descriptor& set(Attribute attribute, Type type, const T& value) {
    return set(attribute, type, 1, &value);
  }
  Descriptor& set(Attribute attribute, std::initializer_list<std::int64_t> numbers) {
    return set(attribute, Type::Int64, static_cast<std::int64_t>(numbers.size()), numbers.begin());
  }
  // The others live as long as this one.
  Descriptor& set(Attribute attribute, std::span<const Descriptor> others);
  Descriptor& set(Attribute attribute, const Descriptor& other) {
    return set(attribute, std::span<const Descriptor>(&other, 1));
  }
  Descriptor& finalize();

  // How many there were; at most `room` are written.
  std::int64_t get(Attribute attribute, Type type, std::int64_t room, void* values) const;

  bool is_good() const { return error_ == 0; }
  int error() const { return error_; }
  void* raw() const { return raw_.get(); }

 private:
  Descriptor& set(Attribute attribute, Type type, std::int64_t count, const void* values);
  const Functions* functions_;
  int error_ = 0;
  std::shared_ptr<void> raw_;
  std::vector<Descriptor> others_;
};

}  // namespace tw::bench::cudnn
