// Stands in for CUDA's header of this name where src/library/device_cuda.cpp is compiled for a
// test: what the library asks of CUDA's runtime is counted, on devices that a test names. Functions
// are inline and no C functions, so that they do not meet CUDA's own.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

enum cudaError_t { cudaSuccess, cudaErrorUnknown };
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrClockRate,
  cudaDevAttrMemoryClockRate,
  cudaDevAttrGlobalMemoryBusWidth
};
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed = 2 };
enum { cudaStreamNonBlocking = 1, cudaUserObjectNoDestructorSync = 1, cudaGraphUserObjectMove = 1 };
#define CUDART_VERSION 13000

struct cudaDeviceProp {
  char name[256];
};
struct CudaGraph;
struct CudaUserObject {
  void* value;
  void (*destroy)(void*);
};
using cudaGraph_t = CudaGraph*;
using cudaGraphNode_t = void*;
using cudaGraphEdgeData = int;
using cudaUserObject_t = CudaUserObject*;
using cudaStream_t = void*;

struct CudaGraph {
  std::vector<CudaUserObject> objects;
};

// What was asked for, and the devices there are.
struct RecordedCuda {
  int allocations = 0, frees = 0, waits = 0, clearings = 0;
  std::size_t allocated_bytes = 0;
  int device = 0;
  std::vector<int> capabilities = {90};
  std::map<cudaStream_t, cudaGraph_t> captured;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
};
inline RecordedCuda& recorded_cuda() {
  static RecordedCuda only;
  return only;
}
// CUDA does so when a graph and all that was made of it are gone.
inline void destroy(CudaGraph& graph) {
  for (const CudaUserObject& object : graph.objects) object.destroy(object.value);
  graph.objects.clear();
}

inline const char* cudaGetErrorString(cudaError_t) { return "unknown error"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(recorded_cuda().capabilities.size());
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = recorded_cuda().device;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  const int capability = recorded_cuda().capabilities.at(static_cast<std::size_t>(device));
  *value = which == cudaDevAttrComputeCapabilityMajor   ? capability / 10
           : which == cudaDevAttrComputeCapabilityMinor ? capability % 10
           : which == cudaDevAttrClockRate              ? 1980000
           : which == cudaDevAttrMemoryClockRate        ? 3201000
           : which == cudaDevAttrGlobalMemoryBusWidth   ? 6144
                                                        : 132;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  std::snprintf(properties->name, sizeof properties->name, "recorded %d", device);
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  ++recorded_cuda().allocations;
  recorded_cuda().allocated_bytes += bytes;
  *memory = std::malloc(bytes);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  ++recorded_cuda().frees;
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
  ++recorded_cuda().clearings;
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = &recorded_cuda();
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  ++recorded_cuda().waits;
  return cudaSuccess;
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = recorded_cuda().captured.count(stream) > 0 ? cudaStreamCaptureStatusActive
                                                       : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* capture, cudaGraph_t* graph,
                                            const cudaGraphNode_t**, const cudaGraphEdgeData**,
                                            std::size_t*) {
  *graph = recorded_cuda().captured.at(stream);
  *capture = reinterpret_cast<unsigned long long>(*graph);
  return cudaStreamIsCapturing(stream, status);
}
inline cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* value,
                                        void (*destroy)(void*), unsigned, unsigned) {
  *object = new CudaUserObject{value, destroy};
  return cudaSuccess;
}
inline cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned) {
  object->destroy(object->value);
  delete object;
  return cudaSuccess;
}
inline cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned,
                                             unsigned) {
  graph->objects.push_back(*object);
  delete object;
  return cudaSuccess;
}
inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, recorded_cuda().mode);
  return cudaSuccess;
}
