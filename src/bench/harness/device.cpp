#include "src/bench/harness/device.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "src/bench/harness/command_output.h"

namespace tw::bench {

void must(int code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "tw: %s failed with error %d.\n", what, code);
  std::exit(1);
}

std::string device_name() {
  cudaDeviceProp properties;
  must(cudaGetDeviceProperties(&properties, 0), "Asking for the device's properties");
  return properties.name;
}

std::string driver_version() {
  return first_line("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null");
}

double copy_bytes_per_second() {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  constexpr int copies = 16;
  void *from, *to;
  cudaEvent_t begin, end;
  must(cudaMalloc(&from, bytes), "Allocating on the GPU");
  must(cudaMalloc(&to, bytes), "Allocating on the GPU");
  must(cudaMemset(from, 1, bytes), "Filling a buffer");
  must(cudaEventCreate(&begin), "Creating an event");
  must(cudaEventCreate(&end), "Creating an event");
  double best = 0;
  for (int repetition = 0; repetition < 4; ++repetition) {
    must(cudaEventRecord(begin), "Recording an event");
    for (int copy = 0; copy < copies; ++copy) {
      must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "Copying");
    }
    must(cudaEventRecord(end), "Recording an event");
    must(cudaEventSynchronize(end), "Waiting for copies");
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, begin, end), "Reading the time");
    best = std::max(best, 2.0 * bytes * copies / (milliseconds * 1e-3));
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaFree(from);
  cudaFree(to);
  return best;
}

// The toolkit has no nvml.h everywhere: these are the functions' signatures there.
struct Monitor::Library {
  using Device = struct NvmlDevice*;
  static constexpr int sm_clock = 1;         // NVML_CLOCK_SM
  static constexpr int gpu_temperature = 0;  // NVML_TEMPERATURE_GPU

  void* handle = nullptr;
  Device device = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*energy)(Device, unsigned long long*) = nullptr;

  template <class Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }
  bool open() {
    int (*initialise)() = nullptr;
    int (*find_device)(const char*, Device*) = nullptr;
    char bus[32] = {};
    handle = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    return handle != nullptr && find(initialise, "nvmlInit_v2") &&
           find(find_device, "nvmlDeviceGetHandleByPciBusId_v2") &&
           find(clock, "nvmlDeviceGetClockInfo") && find(power, "nvmlDeviceGetPowerUsage") &&
           find(temperature, "nvmlDeviceGetTemperature") &&
           find(energy, "nvmlDeviceGetTotalEnergyConsumption") && initialise() == 0 &&
           cudaDeviceGetPCIBusId(bus, sizeof bus, 0) == cudaSuccess &&
           find_device(bus, &device) == 0;
  }
};

Monitor::Monitor() {
  const auto library = std::make_shared<Library>();
  if (library->open()) library_ = library;
}

Reading Monitor::read() const {
  if (library_ == nullptr) return {};
  unsigned mhz = 0, milliwatts = 0, celsius = 0;
  if (library_->clock(library_->device, Library::sm_clock, &mhz) != 0) mhz = 0;
  if (library_->power(library_->device, &milliwatts) != 0) milliwatts = 0;
  if (library_->temperature(library_->device, Library::gpu_temperature, &celsius) != 0) celsius = 0;
  return {double(mhz), milliwatts * 1e-3, double(celsius)};
}

double Monitor::millijoules() const {
  unsigned long long counted = 0;
  if (library_ == nullptr || library_->energy(library_->device, &counted) != 0) return 0;
  return static_cast<double>(counted);
}

}  // namespace tw::bench
