// Interleaved measurements: every candidate runs in every round, on rotating buffers beyond the L2.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

// Device buffers of one matmul shape: enough sets of standard-normal A and B that a set has left
// the L2 before it comes round again.
class MatmulBuffers {
 public:
  MatmulBuffers(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed);
  ~MatmulBuffers();
  MatmulBuffers(const MatmulBuffers&) = delete;
  int sets() const { return static_cast<int>(base_.size()); }
  MatmulProblem problem(int set) const;

 private:
  std::int64_t m_, n_, k_;
  std::vector<char*> base_;
};

// What a launch needs beside its operands: zeroed device memory.
struct DeviceWorkspace {
  explicit DeviceWorkspace(std::size_t bytes);
  ~DeviceWorkspace();
  DeviceWorkspace(const DeviceWorkspace&) = delete;
  Workspace workspace;
};

// Each round launches every candidate's graph twice, timing the second: slices of tens of
// milliseconds, in an order that changes from round to round.
std::vector<Measurement> interleave(const std::vector<Candidate>& candidates, int sets, int rounds);

// cuBLASLt's algorithms for the shape, as candidates that keep what they need alive.
class CublasLt {
 public:
  CublasLt(const MatmulBuffers& buffers, int algorithms);
  std::vector<Candidate> all() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

struct DeviceState {
  std::string name;
  std::string driver;
  std::string clocks;  // SM clock, power, temperature, as nvidia-smi prints them
};
DeviceState device_state();

}  // namespace tw::bench
