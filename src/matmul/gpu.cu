#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "src/matmul/gpu.h"
#include "tilewright/host/cuda.h"

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
    if (bytes > 0) must(cudaMalloc(&pointer, bytes), "Allocating on the GPU");
  }
  explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size()) {
    if (bytes > 0) {
      must(cudaMemcpy(pointer, values.data(), bytes, cudaMemcpyHostToDevice), "Copying to the GPU");
    }
  }
  ~DeviceBuffer() { cudaFree(pointer); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  void read(std::vector<T>& values) const {
    if (bytes > 0) {
      must(cudaMemcpy(values.data(), pointer, bytes, cudaMemcpyDeviceToHost), "Copying back");
    }
  }
  T* pointer = nullptr;
  std::size_t bytes;
};

struct DeviceMatmul {
  explicit DeviceMatmul(MatmulData& data, const MatmulShape& shape)
      : a(data.a.values),
        b(data.b.values),
        d(data.d.values),
        source(data.source.values),
        bias(data.bias),
        problem(problem_on_host(data, shape)) {
    problem.a = a.pointer;
    problem.b = b.pointer;
    problem.d = d.pointer;
    problem.source = source.pointer;
    problem.bias = bias.pointer;
  }
  DeviceBuffer<Bf16> a, b, d, source, bias;
  MatmulProblem problem;
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

__global__ void reference_kernel(double* value, double* magnitude, MatmulProblem problem) {
  const std::int64_t index = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (index >= problem.m * problem.n) return;
  const std::int64_t row = index / problem.n, column = index % problem.n;
  const auto wide = [](Bf16 number) { return static_cast<double>(static_cast<float>(number)); };
  double sum = 0.0, total = 0.0;
  for (std::int64_t i = 0; i < problem.k; ++i) {
    const double product =
        wide(problem.a[row * problem.a_pitch + i]) * wide(problem.b[column * problem.b_pitch + i]);
    sum += product;
    total += fabs(product);
  }
  sum *= problem.alpha;
  total *= fabs(problem.alpha);
  if (problem.source != nullptr) {
    const double c = problem.beta * wide(problem.source[row * problem.source_pitch + column]);
    sum += c;
    total += fabs(c);
  }
  if (problem.bias != nullptr) {
    sum += wide(problem.bias[column]);
    total += fabs(wide(problem.bias[column]));
  }
  value[index] = sum;
  magnitude[index] = total;
}

}  // namespace

std::string why_no_gpu() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
    return "There is no NVIDIA GPU here.";
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  if (major != 9) {
    return "The GPU has compute capability " + std::to_string(major) +
           ".x; the kernels are built for 9.0 (sm_90a).";
  }
  return "";
}

std::string gpu_name() {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return "unknown GPU";
  return properties.name;
}

Status run_on_gpu(const MatmulInstance& instance, const MatmulOrder& order, MatmulData& data,
                  const MatmulShape& shape, int launches) {
  DeviceMatmul device(data, shape);
  for (int i = 0; i < launches; ++i) {
    Status status = instance.launch(device.problem, order, TraceBuffer{}, nullptr);
    if (!status.is_good()) return status;
  }
  wait_or_give_up(launches);
  device.d.read(data.d.values);
  return Status::good();
}

Status trace_on_gpu(const MatmulInstance& instance, const MatmulOrder& order, MatmulData& data,
                    const MatmulShape& shape, std::vector<TraceEvent>& events,
                    std::vector<std::uint32_t>& counts, std::uint32_t capacity) {
  DeviceMatmul device(data, shape);
  DeviceBuffer<TraceEvent> device_events(events);
  DeviceBuffer<std::uint32_t> device_counts(counts);
  const TraceBuffer buffer = {device_events.pointer, device_counts.pointer, capacity};
  // The first launch warms up; the second writes over its record, acquire by acquire.
  for (int i = 0; i < 2; ++i) {
    Status status = instance.launch(device.problem, order, buffer, nullptr);
    if (!status.is_good()) return status;
  }
  wait_or_give_up(2);
  device.d.read(data.d.values);
  device_events.read(events);
  device_counts.read(counts);
  return Status::good();
}

MatmulReference reference_on_gpu(const MatmulData& data, const MatmulShape& shape) {
  MatmulReference reference;
  const std::size_t count = static_cast<std::size_t>(shape.m * shape.n);
  reference.value.resize(count);
  reference.magnitude.resize(count);
  if (count == 0) return reference;
  MatmulData copy = data;
  DeviceMatmul device(copy, shape);
  DeviceBuffer<double> value(count), magnitude(count);
  reference_kernel<<<static_cast<unsigned>((count + 255) / 256), 256>>>(
      value.pointer, magnitude.pointer, device.problem);
  must(cudaDeviceSynchronize(), "The reference");
  value.read(reference.value);
  magnitude.read(reference.magnitude);
  return reference;
}

}  // namespace tw
