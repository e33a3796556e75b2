// Interleaved measurements: every candidate runs in every round, on rotating buffers beyond the L2.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/matmul/instance.h"

namespace tw::bench {

struct Candidate {
  std::string name;
  // Enqueues one product on buffer set `set`. Called during stream capture.
  std::function<Status(int set, void* stream)> launch;
};

struct Measurement {
  std::string name;
  std::string refused;  // why it did not run; empty when it did
  double median_us = 0;
  double low_us = 0;  // fastest and slowest round
  double high_us = 0;
};

// What is measured: D = A B^T in bf16 (or fp16) of operands of one type, both K-major.
struct MatmulCase {
  std::int64_t m, n, k;
  ElementType type = ElementType::Bf16;
  ElementType d_type() const {
    return type == ElementType::Fp16 ? ElementType::Fp16 : ElementType::Bf16;
  }
  // Read and written once.
  double bytes() const {
    return double(bytes_of(type)) * (double(m) * k + double(n) * k) + 2.0 * m * n;
  }
  double flops() const { return 2.0 * m * n * k; }
};

// Device buffers of one case: enough sets of standard-normal A and B that a set has left the L2
// before it comes round again.
class MatmulBuffers {
 public:
  MatmulBuffers(const MatmulCase& what, std::uint64_t seed);
  ~MatmulBuffers();
  MatmulBuffers(const MatmulBuffers&) = delete;
  int sets() const { return static_cast<int>(base_.size()); }
  MatmulProblem problem(int set) const;
  const MatmulCase& what() const { return what_; }

 private:
  MatmulCase what_;
  std::vector<char*> base_;
};

// What a launch needs beside its operands: zeroed device memory.
struct DeviceWorkspace {
  explicit DeviceWorkspace(std::size_t bytes);
  ~DeviceWorkspace();
  DeviceWorkspace(const DeviceWorkspace&) = delete;
  Workspace workspace;
};

// A slice of one candidate must outlast the card's power control, or a kernel is paid for the watts
// that its neighbour saved; for a first choice among many a shorter one will do.
inline constexpr double final_slice_milliseconds = 30;
inline constexpr double choosing_slice_milliseconds = 8;

// Each round launches every candidate's graph twice, timing the second, in an order that changes
// from round to round.
std::vector<Measurement> interleave(const std::vector<Candidate>& candidates, int sets, int rounds,
                                    double slice_milliseconds);

void must(int code, const char* what);  // ends the program unless `code` is 0

struct DeviceState {
  std::string name;
  std::string driver;
  std::string clocks;  // SM clock, power, temperature, as nvidia-smi prints them
};
DeviceState device_state();

}  // namespace tw::bench
