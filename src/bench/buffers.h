// Memory on the device for the products that are measured.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/bench/case.h"
#include "src/family/instance.h"
#include "src/matmul/stated.h"

namespace tw::bench {

// Device buffers of one case: enough sets of standard-normal A and B that a set has left the L2
// before it comes round again.
class MatmulBuffers {
 public:
  MatmulBuffers(const MatmulCase& what, std::uint64_t seed);
  ~MatmulBuffers();
  MatmulBuffers(const MatmulBuffers&) = delete;
  int sets() const { return static_cast<int>(base_.size()); }
  MatmulProblem problem(int set) const;
  const Checked& checked(int set) const {
    return stated_[static_cast<std::size_t>(set)]->checked();
  }
  const MatmulCase& what() const { return what_; }

 private:
  MatmulCase what_;
  std::vector<char*> base_;
  std::vector<std::unique_ptr<StatedMatmul>> stated_;
};

// What a launch needs beside its operands: zeroed device memory.
struct DeviceWorkspace {
  explicit DeviceWorkspace(std::size_t bytes);
  ~DeviceWorkspace();
  DeviceWorkspace(const DeviceWorkspace&) = delete;
  Workspace workspace;
};

}  // namespace tw::bench
