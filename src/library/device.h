// The GPU that calls are for: CUDA's current device, or HIP's.
#pragma once

#include <atomic>
#include <cstddef>

#include "src/library/failure.h"
#include "tilewright/base/status.h"

namespace tw::library {

class Gpu;

// Where kernels are to run, as far as the choice depends on it.
struct Device {
  const Gpu* gpu = nullptr;  // null: the virtual GPU
  int number = -1;           // the vendor's
  const char* target = nullptr;
  unsigned sms = 0;
  const char* name = nullptr;  // the device's; null: the virtual GPU
  int capability = 0;          // 0: any of the target
  // What its clock and its memory do in a microsecond, for the cost model; 0: not known.
  double cycles_per_us = 0, bytes_per_us = 0;

  bool operator==(const Device&) const = default;
};

// What the library asks of a vendor's run-time library around launches.
class Gpu {
 public:
  // Whether there is a device at all.
  virtual bool is_there() const = 0;

  // The current device, asked for its properties once. What it throws is a Failure.
  virtual Device current() const = 0;

  // Enqueues zeroes.
  virtual Status clear(void* memory, std::size_t bytes, void* stream) const = 0;

  // Where the stream is captured into a graph: memory of the library's own, zero before the graph
  // first runs, for what this graph does on this stream and for nothing else, as long as the graph
  // lives. Who uses it leaves it zero. Null: the stream is not captured, or there is none to be
  // had. A node that cleared memory instead would keep the kernels before and behind it from
  // overlapping.
  virtual void* counters_of_capture(std::size_t bytes, void* stream) const = 0;

  // Sets how this thread's calls meet captured streams, and tells how they did before.
  virtual Status exchange_capture_mode(int& mode) const = 0;
  static constexpr int relaxed = 2;  // kernels may be loaded although some stream is captured

 protected:
  ~Gpu() = default;
};

// By CUDA; one that is not there in builds without CUDA, and says so. And by HIP.
const Gpu& cuda();
const Gpu& hip();

// CUDA's, where it has a device; where it has none, or a target of HIP's is named, HIP's where that
// has one. `target` may be null.
const Gpu& gpu_for(const char* target);

// What is known of the devices of one vendor. Written by whoever asks first; who asks at the same
// time writes the same.
class KnownDevices {
 public:
  // `number` is that of a device; ask() makes its Device.
  template <class Ask>
  Device find(int number, const Ask& ask) {
    check(number);
    Known& known = known_[number];
    if (known.target.load(std::memory_order_acquire) == nullptr) {
      const Device asked = ask();
      known.gpu.store(asked.gpu);
      known.sms.store(asked.sms);
      known.name.store(asked.name);
      known.capability.store(asked.capability);
      known.cycles_per_us.store(asked.cycles_per_us);
      known.bytes_per_us.store(asked.bytes_per_us);
      known.target.store(asked.target, std::memory_order_release);
    }
    return {known.gpu.load(),           number,
            known.target.load(),        known.sms.load(),
            known.name.load(),          known.capability.load(),
            known.cycles_per_us.load(), known.bytes_per_us.load()};
  }

 private:
  static constexpr int most = 64;
  static void check(int number);

  struct Known {
    std::atomic<const Gpu*> gpu;
    std::atomic<const char*> target;
    std::atomic<unsigned> sms;
    std::atomic<const char*> name;
    std::atomic<int> capability;
    std::atomic<double> cycles_per_us, bytes_per_us;
  };
  Known known_[most] = {};
};

// While it lives, kernels may be loaded although some stream is captured into a graph.
class LoadsWhileCapturing {
 public:
  explicit LoadsWhileCapturing(const Gpu& gpu) : gpu_(gpu) {
    const Status status = gpu_.exchange_capture_mode(mode_);
    if (!status.is_good()) throw Failure{TW_CUDA, status.sentence()};
  }
  ~LoadsWhileCapturing() { (void)gpu_.exchange_capture_mode(mode_); }
  LoadsWhileCapturing(const LoadsWhileCapturing&) = delete;

 private:
  const Gpu& gpu_;
  int mode_ = Gpu::relaxed;
};

}  // namespace tw::library
