// The CUDA device that calls are for; in builds without CUDA there is none.
#pragma once

#include <cstddef>

#include "tilewright/base/status.h"

namespace tw::library {

// Where kernels are to run, as far as the choice depends on it.
struct Place {
  int device = -1;  // -1: the virtual GPU
  const char* target = nullptr;
  unsigned sms = 0;
  const char* name = nullptr;  // the device's; null: the virtual GPU
  int capability = 0;          // 0: any of the target
};

// The current device, asked for its properties once. What it throws is a Failure.
Place current_device();

// Enqueues zeroes.
Status clear_memory(void* memory, std::size_t bytes, void* stream);

// Where the stream is captured into a graph: memory of the library's own, zero before the graph
// first runs, for what this graph does on this stream and for nothing else, as long as the graph
// lives. Who uses it leaves it zero. Null: the stream is not captured, or there is none to be had.
// A node that cleared memory instead would keep the kernels before and behind it from overlapping.
void* counters_of_capture(std::size_t bytes, void* stream);

// While it lives, kernels may be loaded although some stream is captured into a graph.
class LoadsWhileCapturing {
 public:
  LoadsWhileCapturing();
  ~LoadsWhileCapturing();
  LoadsWhileCapturing(const LoadsWhileCapturing&) = delete;

 private:
  int mode_;
};

}  // namespace tw::library
