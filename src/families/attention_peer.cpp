// cuDNN as a peer of attention, and the errors of both sides against float64.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "src/bench/harness/device.h"
#include "src/bench/peers/cudnn_peer.h"
#include "src/bench/peers/peers.h"
#include "src/families/attention_bench_cudnn.h"
#include "src/verify/matrix.h"
#include "tilewright.h"

namespace tw::bench {

namespace {

using namespace cudnn;

const tw_attention_problem& problem_of(const Buffers& buffers, int set) {
  return buffers.problem(set).as<tw_attention_problem>();
}

struct FreeOnDevice {
  void operator()(void* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<void, FreeOnDevice>;

// The bytes of a result, one line behind the other.
std::size_t output_bytes(const tw_attention_problem& problem, ElementType type) {
  return static_cast<std::size_t>(AttentionFamily::query_rows(problem) *
                                  problem.output.row_stride) *
         bytes_of(type);
}

DeviceMemory on_device(std::size_t bytes) {
  void* memory = nullptr;
  must(cudaMalloc(&memory, bytes), "Allocating for cuDNN");
  return DeviceMemory(memory);
}

constexpr std::size_t number_pitch = 64;  // floats: each number is aligned as tensors are

// What the graph has beside the problem's own tensors.
struct Beside {
  float scale = 1, least = -1e30f;
  DeviceMemory numbers;  // one, the scale of weights and its inverse, and two that are written
  DeviceMemory output;   // where it is e4m3; otherwise the problem's own is written

  explicit Beside(const tw_attention_problem& problem) : scale(AttentionFamily::scale(problem)) {
    if (problem.q.type != TW_E4M3) return;
    std::vector<float> values(5 * number_pitch);
    values[0] = 1;
    values[number_pitch] = weight_scale;
    values[2 * number_pitch] = 1 / weight_scale;
    numbers = on_device(values.size() * sizeof(float));
    must(cudaMemcpy(numbers.get(), values.data(), values.size() * sizeof(float),
                    cudaMemcpyHostToDevice),
         "Copying numbers for cuDNN");
    output = on_device(output_bytes(problem, ElementType::E4m3));
  }
};

Status execute_on(const Plan& plan, const Beside& beside, const tw_attention_problem& problem,
                  void* stream) {
  Pack pack;
  pack.add(QueryId, problem.q.data);
  pack.add(KeyId, problem.k.data);
  pack.add(ValueId, problem.v.data);
  pack.add(AttentionOutputId, beside.output ? beside.output.get() : problem.output.data);
  pack.add(ScaleId, &beside.scale);
  if (problem.causal != 0) pack.add(LeastId, &beside.least);
  if (const auto* const numbers = static_cast<const float*>(beside.numbers.get())) {
    for (int i = 0; i < 4; ++i) pack.add(OnesId + i, numbers);
    for (int i = 0; i < 4; ++i) pack.add(WeightScaleId + i, numbers + (1 + i) * number_pitch);
  }
  return execute(plan, pack, stream);
}

// Rows of one head of one sequence, as numbers.
std::vector<double> rows_of_head(const void* data, const tw_matrix& of, ElementType type,
                                 std::int64_t first, std::int64_t rows, std::int64_t head,
                                 std::int64_t columns) {
  const std::size_t bytes = bytes_of(type);
  const auto pitch = static_cast<std::size_t>(of.row_stride) * bytes;
  const auto length = static_cast<std::size_t>(columns) * bytes;
  const auto count = static_cast<std::size_t>(rows);
  std::vector<std::byte> bits(count * length);
  const auto* const from = static_cast<const std::byte*>(data) +
                           static_cast<std::size_t>(first) * pitch +
                           static_cast<std::size_t>(head * of.batch_stride) * bytes;
  must(cudaMemcpy2D(bits.data(), length, from, pitch, length, count, cudaMemcpyDeviceToHost),
       "Reading rows of attention");
  std::vector<double> values(bits.size() / bytes);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = read_element(type, &bits[i * bytes]);
  return values;
}

// Some rows of the result in float64: the last ones of the first head and of the last.
class Sample {
 public:
  explicit Sample(const tw_attention_problem& problem) : problem_(problem) {
    for (int i = 0; i < 2; ++i)
      add_head(i == 0 ? 0 : problem.sequences - 1, i == 0 ? 0 : problem.heads - 1);
  }
  // The root of the mean square, as a share of the exact result's.
  double error(const void* output, ElementType type) const {
    double wrong = 0, right = 0;
    for (const Head& head : heads_) {
      const std::vector<double> found =
          rows_of_head(output, problem_.output, type, head.first, rows(), head.head, columns());
      for (std::size_t i = 0; i < found.size(); ++i) {
        wrong += std::pow(found[i] - head.exact[i], 2);
        right += std::pow(head.exact[i], 2);
      }
    }
    return std::sqrt(wrong / right);
  }

 private:
  struct Head {
    std::int64_t first, head;
    std::vector<double> exact;
  };
  std::int64_t rows() const { return std::min<std::int64_t>(problem_.queries, 64); }
  std::int64_t columns() const { return AttentionFamily::value_size(problem_); }

  void add_head(std::int64_t sequence, std::int64_t head) {
    const tw_attention_problem& p = problem_;
    const auto type = static_cast<ElementType>(p.q.type);
    const std::int64_t of_keys = head / (p.heads / p.key_heads),
                       first = (sequence + 1) * p.queries - rows();
    const auto keys = static_cast<std::size_t>(p.keys),
               width = static_cast<std::size_t>(p.head_size),
               values = static_cast<std::size_t>(columns());
    const auto q = rows_of_head(p.q.data, p.q, type, first, rows(), head, p.head_size);
    const auto k =
        rows_of_head(p.k.data, p.k, type, sequence * p.keys, p.keys, of_keys, p.head_size);
    const auto v = rows_of_head(p.v.data, p.v, type, sequence * p.keys, p.keys, of_keys, columns());
    Head made = {first, head, std::vector<double>(static_cast<std::size_t>(rows()) * values)};
    std::vector<double> weights(keys);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows()); ++row) {
      const auto behind = static_cast<std::size_t>(rows()) - 1 - row;
      const std::size_t seen = p.causal == 0 ? keys : keys > behind ? keys - behind : 0;
      double largest = -INFINITY, sum = 0;
      for (std::size_t key = 0; key < seen; ++key) {
        double score = 0;
        for (std::size_t i = 0; i < width; ++i) score += q[row * width + i] * k[key * width + i];
        weights[key] = score * AttentionFamily::scale(p);
        largest = std::max(largest, weights[key]);
      }
      for (std::size_t key = 0; key < seen; ++key)
        sum += weights[key] = std::exp(weights[key] - largest);
      for (std::size_t key = 0; key < seen; ++key) {
        for (std::size_t i = 0; i < values; ++i) {
          made.exact[row * values + i] += weights[key] / sum * v[key * values + i];
        }
      }
    }
    heads_.push_back(std::move(made));
  }

  const tw_attention_problem& problem_;
  std::vector<Head> heads_;
};

// Weights of e4m3 miss by up to 6 % each, at random, and a result of e4m3 once more.
double allowed(ElementType of_inputs) { return of_inputs == ElementType::E4m3 ? 0.1 : 0.01; }

void add_attention(Peers& peers, const Buffers& buffers, const PeerEffort& effort,
                   const std::vector<Candidate>& own) {
  const tw_attention_problem& first = problem_of(buffers, 0);
  const auto inputs = static_cast<ElementType>(first.q.type);
  const Sample sample(first);
  std::string errors;
  // NaN in every type: an element that a kernel does not write is no result of another one.
  const auto poison = [&](void* output, ElementType type) {
    must(cudaMemset(output, 0xff, output_bytes(first, type)), "Poisoning a result of attention");
  };
  const auto judge = [&](const std::string& name, const void* output, ElementType type) {
    must(cudaDeviceSynchronize(), "Waiting for attention");
    const double error = sample.error(output, type);
    errors += fmt::format("{}{} {:.2f} %", errors.empty() ? "" : ", ", name, 100 * error);
    return error <= allowed(inputs);
  };
  const auto of_output = static_cast<ElementType>(first.output.type);
  for (const Candidate& one : own) {
    poison(first.output.data, of_output);
    if (const Status status = one.launch(0, nullptr); !status.is_good()) {
      peers.notes.push_back(fmt::format("error of {}: {}", one.name, status.sentence()));
    } else if (!judge(one.name, first.output.data, of_output)) {
      peers.own_is_wrong = true;
      peers.notes.push_back(fmt::format("The output of {} errs by more than {:.0f} %.", one.name,
                                        100 * allowed(inputs)));
    }
  }
  const Status stated = states_attention(first);
  std::string why = stated.is_good() ? shared().why : std::string(stated.sentence());
  if (why.empty()) {
    const Descriptor graph = graph_of(shared().target, first);
    const auto beside = std::make_shared<const Beside>(first);
    void* const output = beside->output ? beside->output.get() : first.output.data;
    bool errs = false;
    for (const Plan& plan :
         plans_of(shared().target, graph, effort.algorithms, effort.plan_seconds)) {
      shared().reserve(plan.workspace_bytes);
      poison(output, inputs);
      const Status status = execute_on(plan, *beside, first, nullptr);
      must(cudaDeviceSynchronize(), "A kernel of cuDNN's");
      if (!status.is_good()) continue;
      if (!judge(plan.name, output, inputs)) {
        errs = true;
        continue;
      }
      peers.plain.push_back({plan.name, [plan, beside, &buffers](int set, void* stream) {
                               return execute_on(plan, *beside, problem_of(buffers, set), stream);
                             }});
    }
    if (peers.plain.empty()) {
      why = errs ? fmt::format("every plan of cuDNN's errs by more than {:.0f} %.",
                               100 * allowed(inputs))
                 : "cuDNN has no plan that runs: " + shared().target.last_error();
    }
  }
  if (!why.empty()) peers.notes.push_back("peer: " + why);
  peers.notes.push_back("errors against float64, of some rows: " + errors);
}

// bench/beside_torch.py calls it like this; it takes bf16 alone.
using Function = int (*)(void* output, const void* q, const void* k, const void* v,
                         std::int64_t batch, std::int64_t heads, std::int64_t key_heads,
                         std::int64_t queries, std::int64_t keys, std::int64_t columns, int causal,
                         void* stream);

int call(void* function, const Buffers& buffers, int set, void* stream) {
  const tw_attention_problem& p = problem_of(buffers, set);
  if (p.q.type != TW_BF16) return -1;
  return reinterpret_cast<Function>(function)(p.output.data, p.q.data, p.k.data, p.v.data,
                                              p.sequences, p.heads, p.key_heads, p.queries, p.keys,
                                              p.head_size, p.causal, stream);
}
const RegisteredFunction registered_function({"attention", call});

const RegisteredPeer registered({"cudnn_attention", add_attention, cudnn::version});

}  // namespace

}  // namespace tw::bench
