#include "src/families/attention_bench_cudnn.h"

#include <array>

namespace tw::bench::cudnn {

namespace {

using Extents = std::array<std::int64_t, 4>;

struct Strided {
  Extents extents, strides;
};

constexpr Strided one_number = {{1, 1, 1, 1}, {1, 1, 1, 1}};

Strided in_rows(const Extents& extents) {
  const auto [b, h, rows, columns] = extents;
  return {extents, {h * rows * columns, rows * columns, columns, 1}};
}

// Operations in the order in which they are computed, each with a result of its own.
class AttentionGraph {
 public:
  AttentionGraph(const Target& target, const tw_attention_problem& what)
      : functions_(*target.functions), what_(what) {}

  std::vector<Descriptor> operations() {
    const bool is_e4m3 = what_.q.type == TW_E4M3;
    const DataType type = is_e4m3                   ? DataType::E4m3
                          : what_.q.type == TW_FP16 ? DataType::Half
                                                    : DataType::Bfloat16;
    const std::int64_t columns = what_.head_size, values = AttentionFamily::value_size(what_);
    const Descriptor q =
        stored(QueryId, type, matrix(what_.q, what_.heads, what_.queries, columns));
    Strided keys = matrix(what_.k, what_.key_heads, what_.keys, columns);
    std::swap(keys.extents[2], keys.extents[3]);
    std::swap(keys.strides[2], keys.strides[3]);
    const Descriptor k = stored(KeyId, type, keys);
    const Descriptor v =
        stored(ValueId, type, matrix(what_.v, what_.key_heads, what_.keys, values));
    const Strided output = matrix(what_.output, what_.heads, what_.queries, values);
    const Descriptor d = stored(AttentionOutputId, type, output);

    Descriptor scores = held(DataType::Float, all_scores());
    product(q, k, scores);
    const auto scaled = [this](const Descriptor& x, const Descriptor& by, const Strided& as) {
      return applied(Pointwise::Multiply, {x, by}, DataType::Float, as);
    };
    scores = scaled(scores, of_host(ScaleId), all_scores());
    for (int i = 0; is_e4m3 && i < 2; ++i) {
      scores = scaled(scores, number(OnesId + i), all_scores());
    }
    if (what_.causal != 0) scores = masked(scores);
    const Descriptor weights = softmax(scores, is_e4m3 ? DataType::Float : type);
    if (!is_e4m3) {
      product(weights, v, d);
      return operations_;
    }
    reduced(Reduction::LargestMagnitude, weights, number(LargestWeightId));
    const Descriptor bytes = applied(Pointwise::Multiply, {weights, number(WeightScaleId)},
                                     DataType::E4m3, all_scores());
    Descriptor sums = held(DataType::Float, in_rows(output.extents));
    product(bytes, v, sums);
    sums = scaled(sums, number(WeightDescaleId), in_rows(output.extents));
    sums = scaled(sums, number(OnesId + 2), in_rows(output.extents));
    pointwise(Pointwise::Multiply, {sums, number(OnesId + 3)}, d);
    reduced(Reduction::LargestMagnitude, sums, number(LargestOutputId));
    return operations_;
  }

 private:
  Strided matrix(const tw_matrix& of, std::int64_t heads, std::int64_t tokens,
                 std::int64_t columns) const {
    return {{what_.sequences, heads, tokens, columns},
            {tokens * of.row_stride, of.batch_stride, of.row_stride, 1}};
  }
  Strided all_scores() const {
    return in_rows({what_.sequences, what_.heads, what_.queries, what_.keys});
  }

  Descriptor tensor(std::int64_t id, DataType type, const Strided& of, Attribute also) const {
    Descriptor result(functions_, Kind::Tensor);
    result.set(Attribute::TensorType, Type::DataType, type)
        .set(Attribute::TensorDimensions, Type::Int64, std::span<const std::int64_t>(of.extents))
        .set(Attribute::TensorStrides, Type::Int64, std::span<const std::int64_t>(of.strides))
        .set(Attribute::TensorId, {id})
        .set(Attribute::TensorAlignment, {16});
    if (also != Attribute::TensorId) result.set(also, Type::Boolean, true);
    return result.finalize();
  }
  Descriptor stored(std::int64_t id, DataType type, const Strided& of) const {
    return tensor(id, type, of, Attribute::TensorId);
  }
  Descriptor number(std::int64_t id) const { return stored(id, DataType::Float, one_number); }
  Descriptor of_host(std::int64_t id) const {
    return tensor(id, DataType::Float, one_number, Attribute::TensorIsByValue);
  }
  Descriptor held(DataType type, const Strided& of) {
    return tensor(next_++, type, of, Attribute::TensorIsVirtual);
  }

  void product(const Descriptor& a, const Descriptor& b, const Descriptor& c) {
    Descriptor kind(functions_, Kind::Product);
    kind.set(Attribute::ProductPrecision, Type::DataType, DataType::Float).finalize();
    Descriptor operation(functions_, Kind::ProductOperation);
    operations_.push_back(operation.set(Attribute::ProductA, a)
                              .set(Attribute::ProductB, b)
                              .set(Attribute::ProductC, c)
                              .set(Attribute::OperationProduct, kind)
                              .finalize());
  }
  // X, then B where there is one, then the condition of a choice.
  void pointwise(Pointwise mode, std::initializer_list<Descriptor> inputs, const Descriptor& y,
                 DataType precision = DataType::Float, std::int64_t axis = -1) {
    Descriptor kind(functions_, Kind::Pointwise);
    kind.set(Attribute::PointwiseMode, Type::PointwiseMode, mode)
        .set(Attribute::PointwisePrecision, Type::DataType, precision);
    if (axis >= 0) kind.set(Attribute::PointwiseAxis, {axis});
    Descriptor operation(functions_, Kind::PointwiseOperation);
    operation.set(Attribute::OperationPointwise, kind.finalize());
    constexpr Attribute places[] = {Attribute::OperationX, Attribute::OperationB,
                                    Attribute::OperationCondition};
    for (std::size_t i = 0; i < inputs.size(); ++i) operation.set(places[i], inputs.begin()[i]);
    operations_.push_back(operation.set(Attribute::OperationY, y).finalize());
  }
  Descriptor applied(Pointwise mode, std::initializer_list<Descriptor> inputs, DataType type,
                     const Strided& as) {
    const Descriptor y = held(type, as);
    pointwise(mode, inputs, y);
    return y;
  }
  void reduced(Reduction by, const Descriptor& x, const Descriptor& y) {
    Descriptor kind(functions_, Kind::Reduction);
    kind.set(Attribute::ReductionOperator, Type::ReductionOperator, by)
        .set(Attribute::ReductionPrecision, Type::DataType, DataType::Float)
        .finalize();
    Descriptor operation(functions_, Kind::ReductionOperation);
    operations_.push_back(operation.set(Attribute::ReductionX, x)
                              .set(Attribute::ReductionY, y)
                              .set(Attribute::OperationReduction, kind)
                              .finalize());
  }

  // Where a query's place is not before the key's.
  Descriptor masked(const Descriptor& scores) {
    Descriptor places[2] = {held(DataType::Int32, all_scores()),
                            held(DataType::Int32, all_scores())};
    for (int i = 0; i < 2; ++i) {
      pointwise(Pointwise::Place, {scores}, places[i], DataType::Int32, 2 + i);
    }
    const Descriptor is_seen = held(DataType::Boolean, all_scores());
    pointwise(Pointwise::NotLess, {places[0], places[1]}, is_seen, DataType::Boolean);
    return applied(Pointwise::Choose, {scores, of_host(LeastId), is_seen}, DataType::Float,
                   all_scores());
  }
  Descriptor softmax(const Descriptor& scores, DataType type) {
    const Strided rows = in_rows({what_.sequences, what_.heads, what_.queries, 1});
    const Descriptor largest = held(DataType::Float, rows), sum = held(DataType::Float, rows);
    reduced(Reduction::Largest, scores, largest);
    const Descriptor less =
        applied(Pointwise::Subtract, {scores, largest}, DataType::Float, all_scores());
    const Descriptor powers =
        applied(Pointwise::Exponential, {less}, DataType::Float, all_scores());
    reduced(Reduction::Sum, powers, sum);
    const Descriptor logarithms = applied(Pointwise::Logarithm, {sum}, DataType::Float, rows);
    applied(Pointwise::Add, {largest, logarithms}, DataType::Float, rows);
    return applied(Pointwise::Divide, {powers, sum}, type, all_scores());
  }

  const Functions& functions_;
  const tw_attention_problem& what_;
  std::vector<Descriptor> operations_;
  std::int64_t next_ = FirstScoreId;
};

}  // namespace

Status states_attention(const tw_attention_problem& what) {
  const bool is_plain = !AttentionFamily::is_ragged(what) && !AttentionFamily::is_paged(what) &&
                        !AttentionFamily::has_ranges(what) && what.window == 0 &&
                        what.softcap == 0 && what.sinks == nullptr && what.values_in_keys == 0;
  if (is_plain && (what.causal == 0 || what.queries == what.keys)) return Status::good();
  return Status::refused(
      "cuDNN's graph is of whole sequences, and causal where queries are as many as keys.");
}

Descriptor graph_of(const Target& target, const tw_attention_problem& what) {
  const std::vector<Descriptor> operations = AttentionGraph(target, what).operations();
  Descriptor graph(*target.functions, Kind::Graph);
  if (target.handle != nullptr) graph.set(Attribute::GraphHandle, Type::Handle, target.handle);
  return graph.set(Attribute::GraphOperations, std::span<const Descriptor>(operations)).finalize();
}

}  // namespace tw::bench::cudnn
