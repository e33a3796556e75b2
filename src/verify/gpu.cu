#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "src/verify/gpu.h"
#include "src/verify/stated.h"
#include "tilewright/launch/cuda.h"

namespace tw {

namespace {

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "tw: %s failed: %s.\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
struct DeviceBuffer {
  explicit DeviceBuffer(std::size_t count) : bytes(count * sizeof(T)) {
    if (bytes == 0) return;
    must(cudaMalloc(&pointer, bytes), "Allocating on the GPU");
    must(cudaMemset(pointer, 0, bytes), "Clearing memory of the GPU");
  }
  template <class Allocator>
  explicit DeviceBuffer(const std::vector<T, Allocator>& values) : DeviceBuffer(values.size()) {
    if (bytes > 0) {
      must(cudaMemcpy(pointer, values.data(), bytes, cudaMemcpyHostToDevice), "Copying to the GPU");
    }
  }
  ~DeviceBuffer() { cudaFree(pointer); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  template <class Allocator>
  void read(std::vector<T, Allocator>& values) const {
    if (bytes > 0) {
      must(cudaMemcpy(values.data(), pointer, bytes, cudaMemcpyDeviceToHost), "Copying back");
    }
  }
  T* pointer = nullptr;
  std::size_t bytes;
};

// The data on the GPU, at the same offsets from a multiple of 256 bytes.
class DeviceMatmul {
 public:
  DeviceMatmul(MatmulData& data, const MatmulShape& shape) : data_(data) {
    MatmulData::for_each(data, [this](HostMatrix& matrix, bool) {
      copies_.push_back(std::make_unique<DeviceBuffer<std::byte>>(matrix.bytes));
    });
    problem_ = problem_at(data, shape, [this](HostMatrix& matrix) -> void* {
      void* address = nullptr;
      each_copy([&](HostMatrix& other, bool, DeviceBuffer<std::byte>& copy) {
        if (&other != &matrix || !matrix.exists()) return;
        address = copy.pointer + matrix.offset();
      });
      return address;
    });
  }
  const MatmulProblem& problem() const { return problem_; }
  void read_outputs() {
    each_copy([](HostMatrix& matrix, bool output, DeviceBuffer<std::byte>& copy) {
      if (output) copy.read(matrix.bytes);
    });
  }

 private:
  template <class Function>
  void each_copy(const Function& function) {
    std::size_t i = 0;
    MatmulData::for_each(
        data_, [&](HostMatrix& matrix, bool output) { function(matrix, output, *copies_[i++]); });
  }
  MatmulData& data_;
  std::vector<std::unique_ptr<DeviceBuffer<std::byte>>> copies_;
  MatmulProblem problem_;
};

void wait_or_give_up(int launches) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const cudaError_t state = cudaStreamQuery(nullptr);
    if (state == cudaSuccess) return;
    if (state != cudaErrorNotReady) must(state, "The kernel");
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(60 + launches)) {
      std::fprintf(stderr, "tw: %d launches did not finish within %d s: the kernel hangs.\n",
                   launches, 60 + launches);
      std::_Exit(1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

// With one workspace for all launches, and until the last is over.
Status launch(const Instance& instance, const LaunchOrder& order, const MatmulProblem& problem,
              const TraceBuffer& trace, int launches) {
  const StatedMatmul stated(problem);
  if (!stated.status().is_good()) return stated.status();
  LaunchOptions options = {order, {}, trace};
  std::size_t& bytes = options.workspace.bytes;
  Status asked = instance.workspace(bytes, stated.checked(), options);
  if (!asked.is_good()) return asked;
  const DeviceBuffer<std::byte> memory(bytes);
  options.workspace.data = memory.pointer;
  for (int i = 0; i < launches; ++i) {
    Status status = instance.launch(stated.checked(), options, nullptr);
    if (!status.is_good()) return status;
  }
  wait_or_give_up(launches);
  return Status::good();
}

__device__ double read(ElementType type, const void* base, std::int64_t index) {
  const auto wide = [&](auto zero) {
    const auto element = static_cast<const decltype(zero)*>(base)[index];
    if constexpr (std::is_integral_v<decltype(zero)>)
      return static_cast<double>(element);
    else
      return static_cast<double>(static_cast<float>(element));
  };
  switch (type) {
    case ElementType::Bf16: return wide(Bf16{});
    case ElementType::Fp16: return wide(Fp16{});
    case ElementType::Fp32: return wide(float{});
    case ElementType::Tf32: return wide(Tf32{});
    case ElementType::E4m3: return wide(E4m3{});
    case ElementType::E5m2: return wide(E5m2{});
    case ElementType::S8: return wide(std::int8_t{});
    default: return wide(std::int32_t{});
  }
}

__device__ double read(const MatmulOperand& operand, std::int64_t batch, std::int64_t row,
                       std::int64_t i) {
  const std::int64_t place =
      operand.major == Major::K ? row * operand.pitch + i : i * operand.pitch + row;
  return read(operand.type, operand.data, batch * operand.batch_pitch + place);
}

__global__ void sums_kernel(double* value, double* magnitude, MatmulProblem problem) {
  const std::int64_t index = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (index >= problem.batch * problem.m * problem.n) return;
  const std::int64_t batch = index / (problem.m * problem.n);
  const std::int64_t row = index / problem.n % problem.m, column = index % problem.n;
  double sum = 0.0, total = 0.0;
  for (std::int64_t i = 0; i < problem.k; ++i) {
    const double product = read(problem.a, batch, row, i) * read(problem.b, batch, column, i);
    sum += product;
    total += fabs(product);
  }
  value[index] = sum;
  magnitude[index] = total;
}

}  // namespace

Status run_on_gpu(const Instance& instance, const LaunchOrder& order, MatmulData& data,
                  const MatmulShape& shape, int launches) {
  DeviceMatmul device(data, shape);
  Status status = launch(instance, order, device.problem(), TraceBuffer{}, launches);
  if (status.is_good()) device.read_outputs();
  return status;
}

MatmulReference reference_on_gpu(const MatmulData& data, const MatmulShape& shape) {
  MatmulSums sums;
  const auto count = static_cast<std::size_t>(shape.batch * shape.m * shape.n);
  sums.value.resize(count);
  sums.magnitude.resize(count);
  if (count > 0) {
    MatmulData copy = data;
    DeviceMatmul device(copy, shape);
    DeviceBuffer<double> value(count), magnitude(count);
    sums_kernel<<<static_cast<unsigned>((count + 255) / 256), 256>>>(
        value.pointer, magnitude.pointer, device.problem());
    must(cudaDeviceSynchronize(), "The reference");
    value.read(sums.value);
    magnitude.read(sums.magnitude);
  }
  return reference_of(sums, data, shape);
}

}  // namespace tw
