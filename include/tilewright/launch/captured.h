// The node that a launch into a CUDA graph follows. A programmatic edge behind a kernel that
// triggers nothing costs the launch behind it 0.15 to 0.3 us, so that launches ask before they
// take one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace tw {

// The one node that the next launch into a captured stream follows.
struct CapturedNode {
  bool is_captured = false;        // the stream is captured, whatever it goes on behind
  unsigned long long capture = 0;  // which capture
  cudaGraphNode_t node = nullptr;  // null: none, or several

  // A stream that cannot be asked counts as one that is not captured: the launch says what is
  // wrong.
  static CapturedNode of(cudaStream_t stream) {
    CapturedNode found;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return found;
    }
    if (status != cudaStreamCaptureStatusActive) return found;
    found.is_captured = true;
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* nodes = nullptr;
    const cudaGraphEdgeData* edges = nullptr;
    std::size_t count = 0;
#if CUDART_VERSION >= 13000
    const cudaError_t asked =
        cudaStreamGetCaptureInfo(stream, &status, &found.capture, &graph, &nodes, &edges, &count);
#else
    const cudaError_t asked = cudaStreamGetCaptureInfo_v3(stream, &status, &found.capture, &graph,
                                                          &nodes, &edges, &count);
#endif
    if (asked != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
    } else if (count == 1) {
      found.node = nodes[0];
    }
    return found;
  }

  // The last launch of this thread into a captured stream, of a kernel that triggers.
  static CapturedNode& last_of_thread() {
    static thread_local CapturedNode last;
    return last;
  }

  // Whether the next launch follows that one, and nothing else.
  bool follows(const CapturedNode& last) const {
    return node != nullptr && node == last.node && capture == last.capture;
  }
};

}  // namespace tw
