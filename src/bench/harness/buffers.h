// Memory on the device for the problems that are measured.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/bench/harness/case.h"

namespace tw::bench {

// Device memory of one case, from its description: enough sets that a set has left the L2 before it
// comes round again. Operands are standard-normal, scales one.
class Buffers {
 public:
  Buffers(const MeasuredCase& what, std::uint64_t seed, const EpilogueNodes& nodes = {});
  ~Buffers();
  Buffers(const Buffers&) = delete;
  const MeasuredCase& what() const { return what_; }
  const EpilogueNodes& nodes() const { return nodes_; }
  int sets() const { return static_cast<int>(sets_.size()); }
  const AnyProblem& problem(int set, bool with_epilogue = false) const {
    return of(set, with_epilogue).problem;
  }
  // Throws a library's Failure where the problem does not keep its description.
  const Checked& checked(int set, bool with_epilogue = false) const {
    return of(set, with_epilogue).checked;
  }
  // The first bytes of a set, onto those behind them.
  Status copy(int set, std::size_t bytes, void* stream) const;

  // D of one set, as numbers, of a large one its beginning and its end; poisons it for the next.
  std::vector<float> take_output(int set) const;

 private:
  struct Stated {
    AnyProblem problem = AnyProblem(0);
    Checked checked;
  };
  struct Set {
    char* base;
    std::unique_ptr<Stated> plain, with_epilogue;
  };
  const Stated& of(int set, bool with_epilogue) const {
    const Set& one = sets_[static_cast<std::size_t>(set)];
    return with_epilogue ? *one.with_epilogue : *one.plain;
  }
  std::unique_ptr<Stated> stated(const AnyProblem& problem) const;
  void fill(const TensorLines& lines, std::size_t tensor, std::uint64_t seed) const;

  MeasuredCase what_;
  EpilogueNodes nodes_;
  std::vector<Set> sets_;
};

// What a launch needs beside its operands: zeroed device memory.
struct DeviceWorkspace {
  explicit DeviceWorkspace(std::size_t bytes);
  ~DeviceWorkspace();
  DeviceWorkspace(const DeviceWorkspace&) = delete;
  Workspace workspace;
};

}  // namespace tw::bench
