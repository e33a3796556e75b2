#include "src/verify/on_gpu.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "src/verify/device.h"
#include "src/verify/trace_room.h"
#include "tilewright/launch/hip.h"
#include "tilewright/launch/targets.h"
#if TW_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tw {

std::uint64_t GpuTrace::lost() const {
  std::uint64_t sum = 0;
  for (const std::uint32_t count : counts) sum += count > capacity ? count - capacity : 0;
  return sum;
}

namespace {

bool is_hip(const Instance& instance) { return is_of_hip(*target_named(instance.target)); }

#if TW_WITH_CUDA
std::string why_not_on_cuda(const Instance& instance) {
  if (std::string why = why_no_gpu(); !why.empty()) return why;
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  const int capability = major * 10 + minor;
  const TargetFacts* const here = target_of(capability);
  const bool has_it = instance.capability_end == 0 || capability < instance.capability_end ||
                      target_named(instance.target)->by_ptx(capability);
  if (here != nullptr && has_it && runs_on(instance.target, here->name, instance.capability_end)) {
    return "";
  }
  return sentence("The GPU has compute capability {}.{}; the instance {} is for {}.", major, minor,
                  instance.name, instance.target);
}

constexpr DeviceRuntime cuda = {
    [](void** memory, std::size_t bytes) { return int{cudaMalloc(memory, bytes)}; },
    [](void* memory) { return int{cudaFree(memory)}; },
    [](void* memory, int byte, std::size_t bytes) { return int{cudaMemset(memory, byte, bytes)}; },
    [](void* to, const void* from, std::size_t bytes, int kind) {
      return int{cudaMemcpy(to, from, bytes, static_cast<cudaMemcpyKind>(kind))};
    },
    [](void* stream) { return int{cudaStreamQuery(static_cast<cudaStream_t>(stream))}; },
    [] { return int{cudaDeviceSynchronize()}; },
    [](void** event) { return int{cudaEventCreate(reinterpret_cast<cudaEvent_t*>(event))}; },
    [](void* event, void* stream) {
      return int{
          cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream))};
    },
    [](float* milliseconds, void* begin, void* end) {
      return int{cudaEventElapsedTime(milliseconds, static_cast<cudaEvent_t>(begin),
                                      static_cast<cudaEvent_t>(end))};
    },
    [](void* event) { return int{cudaEventDestroy(static_cast<cudaEvent_t>(event))}; },
    [](int status) { return cudaGetErrorString(static_cast<cudaError_t>(status)); }};
static_assert(cudaMemcpyHostToDevice == DeviceRuntime::to_device &&
              cudaMemcpyDeviceToHost == DeviceRuntime::to_host &&
              cudaErrorNotReady == DeviceRuntime::not_ready);
#else
std::string why_not_on_cuda(const Instance&) { return why_no_gpu(); }
#endif

std::string why_not_on_hip(const Instance& instance) {
  std::string why;
  const HipLibrary* const hip = HipLibrary::opened(why);
  if (hip == nullptr) return why;
  const std::string here = hip->target_of(0);
  if (here == instance.target) return "";
  return sentence("The GPU is {}; the instance {} is for {}.", here, instance.name,
                  instance.target);
}

// The library that launches an instance, where why_not_on_gpu() has nothing to say.
class Runtime {
 public:
  explicit Runtime(const Instance& instance) {
    std::string why;
    if (is_hip(instance)) functions_ = HipLibrary::opened(why);
#if TW_WITH_CUDA
    if (!is_hip(instance)) functions_ = &cuda;
#endif
  }
  const DeviceRuntime* operator->() const { return functions_; }
  void must(int status, const char* what) const {
    if (status == 0) return;
    std::fprintf(stderr, "tw: %s failed: %s.\n", what, functions_->error(status));
    std::exit(1);
  }

 private:
  const DeviceRuntime* functions_ = nullptr;
};

// Zeros on the GPU.
class DeviceMemory {
 public:
  DeviceMemory(const Runtime& gpu, std::size_t bytes) : gpu_(gpu) {
    if (bytes == 0) return;
    gpu.must(gpu->allocate(&data_, bytes), "Allocating on the GPU");
    gpu.must(gpu->fill(data_, 0, bytes), "Clearing memory of the GPU");
  }
  ~DeviceMemory() { gpu_->free(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  void* data() const { return data_; }

 private:
  Runtime gpu_;
  void* data_ = nullptr;
};

// Memory of the GPU with the same bytes, at the same offset from a multiple of 256 bytes.
class DeviceCopies {
 public:
  DeviceCopies(const Runtime& gpu, const HostProblem& given)
      : gpu_(gpu), copies_(given.tensors(), nullptr) {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const AlignedBytes& bytes = given.tensor(i).bytes;
      if (bytes.empty()) continue;
      gpu.must(gpu->allocate(&copies_[i], bytes.size()), "Allocating on the GPU");
      gpu.must(gpu->copy(copies_[i], bytes.data(), bytes.size(), DeviceRuntime::to_device),
               "Copying to the GPU");
    }
  }
  ~DeviceCopies() {
    for (void* copy : copies_) gpu_->free(copy);
  }
  DeviceCopies(const DeviceCopies&) = delete;
  void* address(const HostMatrix& matrix, std::size_t i) const {
    return static_cast<std::byte*>(copies_[i]) + matrix.offset();
  }
  void read(HostMatrix& matrix, std::size_t i) const {
    gpu_.must(
        gpu_->copy(matrix.bytes.data(), copies_[i], matrix.bytes.size(), DeviceRuntime::to_host),
        "Copying back");
  }

 private:
  Runtime gpu_;
  std::vector<void*> copies_;
};

void wait_or_give_up(const Runtime& gpu, const Case& of, int launches = 1) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60 + launches);
  while (gpu->query(nullptr) == DeviceRuntime::not_ready) {
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr, "tw: the kernel hangs: %s\n", run_line(of).c_str());
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  gpu.must(gpu->synchronize(), "The kernel");
}

}  // namespace

std::string why_not_on_gpu(const Instance& instance) {
  std::string why = is_hip(instance) ? why_not_on_hip(instance) : why_not_on_cuda(instance);
  if (why.empty() && instance.launch == nullptr) {
    why = std::string("The instance ") + instance.name + " is not compiled for a GPU.";
  }
  return why;
}

std::string gpu_name(const Instance& instance) {
  std::string why;
  return is_hip(instance) ? HipLibrary::opened(why)->name_of(0) : gpu_name();
}

Result<std::string> gpu_name_for(const std::string& target) {
  const TargetFacts* const wanted = target_named(target);
  const std::string no_gpu = why_no_gpu();
  std::string why;
  const HipLibrary* const hip = HipLibrary::opened(why);
  const bool by_hip = wanted != nullptr ? is_of_hip(*wanted) : !no_gpu.empty() && hip != nullptr;
  if (by_hip && hip != nullptr) return {Status::good(), hip->name_of(0)};
  if (!by_hip && no_gpu.empty()) return {Status::good(), gpu_name()};
  return {Status::refused(by_hip ? why : no_gpu), std::nullopt};
}

namespace {

// A case in memory of the GPU, ready for launches.
class OnGpu {
 public:
  OnGpu(const Case& of, const HostProblem& given, std::uint32_t capacity = TraceRoom::capacity)
      : instance_(*of.instance),
        tracks_(tracks_of(of)),
        gpu_(instance_),
        copies_(gpu_, given),
        problem_(given.placed([&](std::size_t i) { return copies_.address(given.tensor(i), i); })),
        options_{of.order},
        status_(check(checked_, *of.trial->description, problem_.data())) {
    if (!status_.is_good()) return;
    status_ = instance_.workspace(options_.workspace.bytes, checked_, options_);
    if (!status_.is_good()) return;
    workspace_ = std::make_unique<DeviceMemory>(gpu_, options_.workspace.bytes);
    options_.workspace.data = workspace_->data();
    make_room_for_trace(capacity);
  }
  Status launch() const {
    return status_.is_good() ? instance_.launch(checked_, options_, nullptr) : status_;
  }
  const DeviceCopies& copies() const { return copies_; }
  void read(GpuTrace& trace) const {
    trace.tracks = tracks_;
    trace.counts.resize(TraceRoom::most_ctas(trace.tracks) * trace.tracks);
    trace.events.resize(trace.counts.size() * trace.capacity);
    const auto read = [&](void* to, const DeviceMemory& from, std::size_t bytes) {
      gpu_.must(gpu_->copy(to, from.data(), bytes, DeviceRuntime::to_host), "Reading the trace");
    };
    read(trace.events.data(), *events_, trace.events.size() * sizeof(TraceEvent));
    read(trace.counts.data(), *counts_, trace.counts.size() * sizeof(std::uint32_t));
  }

 private:
  void make_room_for_trace(std::uint32_t capacity) {
    if (tracks_ == 0) return;
    const std::size_t tracks = TraceRoom::most_ctas(tracks_) * tracks_;
    events_ = std::make_unique<DeviceMemory>(gpu_, tracks * capacity * sizeof(TraceEvent));
    counts_ = std::make_unique<DeviceMemory>(gpu_, tracks * sizeof(std::uint32_t));
    options_.trace = {static_cast<TraceEvent*>(events_->data()),
                      static_cast<std::uint32_t*>(counts_->data()), capacity,
                      static_cast<std::uint32_t>(tracks)};
  }

  const Instance& instance_;
  unsigned tracks_;  // tracks in a CTA's timeline
  Runtime gpu_;
  DeviceCopies copies_;
  AnyProblem problem_;
  Checked checked_;
  LaunchOptions options_;
  std::unique_ptr<DeviceMemory> workspace_, events_, counts_;
  Status status_;
};

}  // namespace

namespace {

Status may_run_on_gpu(const Case& of) {
  if (std::string why = why_not_on_gpu(*of.instance); !why.empty()) return Status::refused(why);
  if (of.spacing != Spacing::Far) return Status::good();
  return Status::refused("Lines that are far apart (--spacing far) are for the virtual GPU only.");
}

Result<Comparison> run_and_read(const Verified& verified, int launches, HostProblem* left,
                                GpuTrace* trace) {
  const Case& of = verified.of();
  if (Status status = may_run_on_gpu(of); !status.is_good()) return {status, std::nullopt};
  HostProblem ran = verified.given();
  const OnGpu there(of, ran, trace != nullptr ? trace->capacity : TraceRoom::capacity);
  for (int i = 0; i < launches; ++i) {
    if (Status status = there.launch(); !status.is_good()) return {status, std::nullopt};
  }
  wait_or_give_up(Runtime(*of.instance), of, launches);
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
  if (Status status = may_run_on_gpu(of); !status.is_good()) return {status, std::nullopt};
  const HostProblem given(of);
  const OnGpu there(of, given);
  constexpr int warm_up = 5, launches = 50;
  const Runtime gpu(*of.instance);
  void *begin = nullptr, *end = nullptr;
  gpu.must(gpu->create_event(&begin), "Making an event");
  gpu.must(gpu->create_event(&end), "Making an event");
  std::vector<double> times;
  for (int i = -warm_up; i < launches; ++i) {
    gpu.must(gpu->record(begin, nullptr), "Recording an event");
    if (Status status = there.launch(); !status.is_good()) return {status, std::nullopt};
    gpu.must(gpu->record(end, nullptr), "Recording an event");
    wait_or_give_up(gpu, of);
    float milliseconds = 0;
    gpu.must(gpu->elapsed(&milliseconds, begin, end), "Reading an event");
    if (i >= 0) times.push_back(1000.0 * milliseconds);
  }
  gpu.must(gpu->destroy_event(begin), "Ending an event");
  gpu.must(gpu->destroy_event(end), "Ending an event");
  std::sort(times.begin(), times.end());
  return {Status::good(), Timing{times[times.size() / 2], times.front(), times.back(), launches}};
}

}  // namespace tw
