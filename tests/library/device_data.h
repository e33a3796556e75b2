// A problem's data on the GPU, at the same offsets from a multiple of 256 bytes.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/library/problem.h"

namespace tw::tests {

inline void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) {
    if (bytes > 0) must(cudaMalloc(&data_, bytes));
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

class DeviceData {
 public:
  DeviceData(MatmulData& data, const MatmulShape& shape) : data_(data) {
    MatmulData::for_each(data, [this](HostMatrix& matrix, bool) {
      copies_.push_back(std::make_unique<DeviceMemory>(matrix.bytes.size()));
    });
    write();
    problem = c_problem(data, shape, [this](HostMatrix& wanted) -> void* {
      void* address = nullptr;
      each([&](HostMatrix& matrix, bool, DeviceMemory& copy) {
        if (&matrix == &wanted) address = copy.data() + matrix.offset();
      });
      return address;
    });
  }
  // Everything as it is on the host, poisoned outputs too. Waits.
  void write() {
    each([](HostMatrix& matrix, bool, DeviceMemory& copy) {
      if (matrix.bytes.empty()) return;
      must(cudaMemcpy(copy.data(), matrix.bytes.data(), matrix.bytes.size(),
                      cudaMemcpyHostToDevice));
    });
    must(cudaDeviceSynchronize());
  }
  // Waits, and returns the data with the GPU's outputs.
  MatmulData read() {
    must(cudaDeviceSynchronize());
    MatmulData result = data_;
    std::size_t i = 0;
    MatmulData::for_each(result, [&](HostMatrix& matrix, bool output) {
      const DeviceMemory& copy = *copies_[i++];
      if (!output || matrix.bytes.empty()) return;
      must(cudaMemcpy(matrix.bytes.data(), copy.data(), matrix.bytes.size(),
                      cudaMemcpyDeviceToHost));
    });
    return result;
  }

  tw_matmul_problem problem;

 private:
  template <class Function>
  void each(const Function& function) {
    std::size_t i = 0;
    MatmulData::for_each(
        data_, [&](HostMatrix& matrix, bool output) { function(matrix, output, *copies_[i++]); });
  }
  MatmulData& data_;
  std::vector<std::unique_ptr<DeviceMemory>> copies_;
};

}  // namespace tw::tests
