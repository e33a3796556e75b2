#include "src/bench/harness/buffers.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "src/bench/harness/device.h"
#include "src/bench/harness/fill.h"
#include "src/library/failure.h"
#include "src/verify/matrix.h"
#include "tilewright.h"

namespace tw::bench {

namespace {

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

// Memory is aligned as the case says.
std::size_t offset_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 256;
}

// Its size and family, as the C interface asks for them.
void set_head(AnyProblem& problem, const Description& description) {
  std::vector<std::byte> initial(description.size);
  if (tw_init(description.name, initial.data(), initial.size(), nullptr) != TW_OK) {
    throw library::Failure{TW_INVALID, tw_message()};
  }
  std::memcpy(problem.data(), initial.data(), sizeof(std::size_t) + sizeof(std::uint64_t));
}

}  // namespace

Buffers::Buffers(const MeasuredCase& what, std::uint64_t seed, const EpilogueNodes& nodes)
    : what_(what), nodes_(nodes) {
  set_head(what_.problem, what_.description());
  const std::span<const TensorField> tensors = what_.description().tensors;
  const auto outline = stated(what_.problem);
  std::vector<std::size_t> begins;
  std::size_t bytes = 0;
  const auto add = [&](std::size_t more) {
    begins.push_back(bytes);
    bytes += aligned(more);
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorLines& lines = outline->checked.tensor(i);
    add(lines.data == nullptr ? 0 : lines.bytes() + offset_of(lines.data));
  }
  const std::size_t touched = bytes;
  TensorLines bias, residual;
  if (nodes.any()) {
    const TensorLines& d = outline->checked.tensor(what_.description().product->d);
    bias = residual = d;
    bias.lines = bias.batch = 1;
    add(bias.bytes());
    add(residual.bytes());
  }
  int l2_bytes = 0;
  must(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "Asking for the L2's size");
  // Small problems touch little: many sets.
  const std::size_t sets = std::clamp<std::size_t>(
      3 * std::size_t(l2_bytes) / std::max<std::size_t>(touched, 1) + 1, 2, 512);
  for (std::size_t set = 0; set < sets; ++set) {
    void* memory = nullptr;
    must(cudaMalloc(&memory, bytes), "Allocating on the GPU");
    sets_.push_back({static_cast<char*>(memory), nullptr, nullptr});
    Set& one = sets_.back();
    AnyProblem problem = what_.problem;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (outline->checked.tensor(i).data == nullptr) continue;
      tw_matrix matrix = tensors[i].get(problem.data());
      matrix.data = one.base + begins[i] + offset_of(matrix.data);
      tensors[i].set(problem.data(), matrix);
    }
    one.plain = stated(problem);
    std::uint64_t next = seed + (tensors.size() + 2) * set;
    for (std::size_t i = 0; i < tensors.size(); ++i) fill(one.plain->checked.tensor(i), i, next++);
    if (!nodes.any()) continue;
    bias.data = one.base + begins[tensors.size()];
    residual.data = one.base + begins[tensors.size() + 1];
    fill(bias, tensors.size(), next++);
    fill(residual, tensors.size(), next++);
    tw_epilogue& epilogue = what_.description().product->epilogue_of(problem.data());
    epilogue.bias_type = static_cast<tw_type>(bias.type);
    if (nodes.bias) epilogue.column_bias = bias.data;
    if (nodes.residual) {
      epilogue.beta = 1.0f;
      epilogue.source = {residual.data, residual.pitch, 1, residual.batch_pitch,
                         static_cast<tw_type>(residual.type)};
    }
    if (nodes.relu) epilogue.activation = TW_RELU;
    one.with_epilogue = stated(problem);
  }
  must(cudaDeviceSynchronize(), "Filling the inputs");
}

Buffers::~Buffers() {
  for (const Set& set : sets_) cudaFree(set.base);
}

std::unique_ptr<Buffers::Stated> Buffers::stated(const AnyProblem& problem) const {
  auto made = std::make_unique<Stated>();
  made->problem = problem;
  const Status status = check(made->checked, what_.description(), made->problem.data());
  if (!status.is_good()) throw library::Failure{TW_INVALID, status.sentence()};
  return made;
}

void Buffers::fill(const TensorLines& lines, std::size_t tensor, std::uint64_t seed) const {
  if (lines.data == nullptr) return;
  const auto copy = [&lines](const void* from, std::size_t bytes) {
    must(cudaMemcpy(lines.data, from, bytes, cudaMemcpyHostToDevice), "Copying an input");
  };
  if (what_.data != nullptr && tensor < what_.description().tensors.size()) {
    const HostMatrix& given = what_.data->tensor(tensor);
    return copy(given.bytes.data() + given.offset(), lines.bytes());
  }
  switch (lines.type) {
    case ElementType::Fp32: {
      // Also behind them: the peer's lines may be longer.
      const std::vector<float> ones(aligned(lines.bytes()) / sizeof(float), 1.0f);
      return copy(ones.data(), aligned(lines.bytes()));
    }
    case ElementType::S32: return copy(what_.integers.data(), lines.bytes());
    default: fill_normal(lines.data, lines.type, lines.bytes() / bytes_of(lines.type), seed);
  }
}

Status Buffers::copy(int set, std::size_t bytes, void* stream) const {
  char* const base = sets_[static_cast<std::size_t>(set)].base;
  const cudaError_t error = cudaMemcpyAsync(base + bytes, base, bytes, cudaMemcpyDeviceToDevice,
                                            static_cast<cudaStream_t>(stream));
  return error == cudaSuccess ? Status::good() : Status::refused(cudaGetErrorString(error));
}

std::vector<float> Buffers::take_output(int set) const {
  constexpr std::size_t most_taken = std::size_t{1} << 22;
  const Description& description = what_.description();
  std::size_t written = 0;  // the first
  while (description.tensors[written].flow != TensorField::Flow::Written) ++written;
  const bool multiplies = description.product != nullptr;
  const TensorLines& d = checked(set).tensor(multiplies ? description.product->d : written);
  const std::size_t bytes = bytes_of(d.type), elements = d.bytes() / bytes;
  const std::size_t count = std::min(elements, most_taken), first = count / 2;
  std::vector<std::byte> bits(count * bytes);
  const auto* output = static_cast<const std::byte*>(d.data);
  must(cudaDeviceSynchronize(), "Waiting for a kernel");
  const auto read = [&](std::size_t to, std::size_t from, std::size_t many) {
    must(cudaMemcpy(bits.data() + to * bytes, output + from * bytes, many * bytes,
                    cudaMemcpyDeviceToHost),
         "Reading an output");
  };
  read(0, 0, first);
  read(first, elements - (count - first), count - first);
  must(cudaMemset(d.data, 0xff, d.bytes()), "Poisoning an output");
  must(cudaDeviceSynchronize(), "Poisoning an output");
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(read_element(d.type, &bits[i * bytes]));
  }
  return values;
}

DeviceWorkspace::DeviceWorkspace(std::size_t bytes) : workspace{nullptr, bytes} {
  if (bytes == 0) return;
  must(cudaMalloc(&workspace.data, bytes), "Allocating a workspace");
  must(cudaMemset(workspace.data, 0, bytes), "Clearing a workspace");
}
DeviceWorkspace::~DeviceWorkspace() { cudaFree(workspace.data); }

}  // namespace tw::bench
