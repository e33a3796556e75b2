#include "src/run/on_gpu.h"

#include "src/run/device.h"
#if TW_WITH_CUDA
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "src/run/trace_room.h"
#include "tilewright/host/targets.h"
#endif

namespace tw {

std::uint64_t GpuTrace::lost() const {
  std::uint64_t sum = 0;
  for (const std::uint32_t count : counts) sum += count > capacity ? count - capacity : 0;
  return sum;
}

#if TW_WITH_CUDA

namespace {

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "tw: %s failed: %s.\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Zeros on the GPU.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) {
    if (bytes == 0) return;
    must(cudaMalloc(&data_, bytes), "Allocating on the GPU");
    must(cudaMemset(data_, 0, bytes), "Clearing memory of the GPU");
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// Memory of the GPU with the same bytes, at the same offset from a multiple of 256 bytes.
class DeviceCopies {
 public:
  explicit DeviceCopies(const HostProblem& given) : copies_(given.tensors(), nullptr) {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const AlignedBytes& bytes = given.tensor(i).bytes;
      if (bytes.empty()) continue;
      must(cudaMalloc(&copies_[i], bytes.size()), "Allocating on the GPU");
      must(cudaMemcpy(copies_[i], bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
           "Copying to the GPU");
    }
  }
  ~DeviceCopies() {
    for (void* copy : copies_) cudaFree(copy);
  }
  DeviceCopies(const DeviceCopies&) = delete;
  void* address(const HostMatrix& matrix, std::size_t i) const {
    return static_cast<std::byte*>(copies_[i]) + matrix.offset();
  }
  void read(HostMatrix& matrix, std::size_t i) const {
    must(cudaMemcpy(matrix.bytes.data(), copies_[i], matrix.bytes.size(), cudaMemcpyDeviceToHost),
         "Copying back");
  }

 private:
  std::vector<void*> copies_;
};

void wait_or_give_up(const Case& of, int launches = 1) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60 + launches);
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr, "tw: the kernel hangs: %s\n", run_line(of).c_str());
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  must(cudaDeviceSynchronize(), "The kernel");
}

}  // namespace

std::string why_not_on_gpu(const Instance& instance) {
  if (std::string why = why_no_gpu(); !why.empty()) return why;
  if (instance.launch == nullptr) {
    return std::string("The instance ") + instance.name + " is not compiled for a GPU.";
  }
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  const TargetFacts* const here = target_of(major * 10 + minor);
  if (here != nullptr && runs_on(instance.target, here->name)) return "";
  return sentence("The GPU has compute capability {}.{}; the instance {} is for {}.", major, minor,
                  instance.name, instance.target);
}

namespace {

// A case in memory of the GPU, ready for launches.
class OnGpu {
 public:
  OnGpu(const Case& of, const HostProblem& given, std::uint32_t capacity = TraceRoom::capacity)
      : instance_(*of.instance),
        copies_(given),
        problem_(given.placed([&](std::size_t i) { return copies_.address(given.tensor(i), i); })),
        options_{of.order},
        status_(check(checked_, *of.trial->description, problem_.data())) {
    if (!status_.is_good()) return;
    status_ = instance_.workspace(options_.workspace.bytes, checked_, options_);
    if (!status_.is_good()) return;
    workspace_ = std::make_unique<DeviceMemory>(options_.workspace.bytes);
    options_.workspace.data = workspace_->data();
    if (of.trial->description->product != nullptr) make_room_for_trace(capacity);
  }
  Status launch() const {
    return status_.is_good() ? instance_.launch(checked_, options_, nullptr) : status_;
  }
  const DeviceCopies& copies() const { return copies_; }
  void read(GpuTrace& trace) const {
    trace.tracks = product_facts(instance_).tracks;
    trace.counts.resize(TraceRoom::most_ctas * trace.tracks);
    trace.events.resize(trace.counts.size() * trace.capacity);
    must(cudaMemcpy(trace.events.data(), events_->data(), trace.events.size() * sizeof(TraceEvent),
                    cudaMemcpyDeviceToHost),
         "Reading the trace");
    must(cudaMemcpy(trace.counts.data(), counts_->data(),
                    trace.counts.size() * sizeof(std::uint32_t), cudaMemcpyDeviceToHost),
         "Reading the trace");
  }

 private:
  void make_room_for_trace(std::uint32_t capacity) {
    const ProductFacts& facts = product_facts(instance_);
    if (facts.config.tracing == Tracing::Off) return;
    const std::size_t tracks = TraceRoom::most_ctas * facts.tracks;
    events_ = std::make_unique<DeviceMemory>(tracks * capacity * sizeof(TraceEvent));
    counts_ = std::make_unique<DeviceMemory>(tracks * sizeof(std::uint32_t));
    options_.trace = {static_cast<TraceEvent*>(events_->data()),
                      static_cast<std::uint32_t*>(counts_->data()), capacity};
  }

  const Instance& instance_;
  DeviceCopies copies_;
  AnyProblem problem_;
  Checked checked_;
  LaunchOptions options_;
  std::unique_ptr<DeviceMemory> workspace_, events_, counts_;
  Status status_;
};

}  // namespace

namespace {

Result<Comparison> run_and_read(const Verified& verified, int launches, HostProblem* left,
                                GpuTrace* trace) {
  const Case& of = verified.of();
  if (std::string why = why_not_on_gpu(*of.instance); !why.empty()) {
    return {Status::refused(why), std::nullopt};
  }
  HostProblem ran = verified.given();
  const OnGpu there(of, ran, trace != nullptr ? trace->capacity : TraceRoom::capacity);
  for (int i = 0; i < launches; ++i) {
    if (Status status = there.launch(); !status.is_good()) return {status, std::nullopt};
  }
  wait_or_give_up(of, launches);
  for (std::size_t i = 0; i < ran.tensors(); ++i) {
    if (ran.is_written(i) && !ran.tensor(i).bytes.empty()) there.copies().read(ran.tensor(i), i);
  }
  if (trace != nullptr) there.read(*trace);
  const Comparison comparison = verified.compare(ran);
  if (left != nullptr) *left = std::move(ran);
  return {Status::good(), comparison};
}

}  // namespace

Result<Comparison> run_on_gpu(const Verified& verified, int launches, HostProblem* left) {
  return run_and_read(verified, launches, left, nullptr);
}

Result<Comparison> trace_on_gpu(const Verified& verified, GpuTrace& trace) {
  return run_and_read(verified, 2, nullptr, &trace);
}

Result<Timing> time_on_gpu(const Case& of) {
  if (std::string why = why_not_on_gpu(*of.instance); !why.empty()) {
    return {Status::refused(why), std::nullopt};
  }
  const HostProblem given(of);
  const OnGpu there(of, given);
  constexpr int warm_up = 5, launches = 50;
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin), "Making an event");
  must(cudaEventCreate(&end), "Making an event");
  std::vector<double> times;
  for (int i = -warm_up; i < launches; ++i) {
    must(cudaEventRecord(begin), "Recording an event");
    if (Status status = there.launch(); !status.is_good()) return {status, std::nullopt};
    must(cudaEventRecord(end), "Recording an event");
    wait_or_give_up(of);
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, begin, end), "Reading an event");
    if (i >= 0) times.push_back(1000.0 * milliseconds);
  }
  must(cudaEventDestroy(begin), "Ending an event");
  must(cudaEventDestroy(end), "Ending an event");
  std::sort(times.begin(), times.end());
  return {Status::good(), Timing{times[times.size() / 2], times.front(), times.back(), launches}};
}

#else

std::string why_not_on_gpu(const Instance&) { return why_no_gpu(); }
Result<Comparison> run_on_gpu(const Verified&, int, HostProblem*) {
  return {Status::refused(why_no_gpu()), std::nullopt};
}
Result<Comparison> trace_on_gpu(const Verified&, GpuTrace&) {
  return {Status::refused(why_no_gpu()), std::nullopt};
}
Result<Timing> time_on_gpu(const Case&) { return {Status::refused(why_no_gpu()), std::nullopt}; }

#endif

}  // namespace tw
