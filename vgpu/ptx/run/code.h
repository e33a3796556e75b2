// An entry of a module, made ready to run.
#pragma once

#include <string>
#include <vector>

#include "tilewright/base/status.h"
#include "vgpu/ptx/run/slots.h"

namespace tw::vgpu::ptx {

// Where a variable begins in the memory of its space.
struct Placed {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Code {
  Code() = default;
  Code(Code&&) = default;  // steps point into the vectors: there are no copies
  Code& operator=(Code&&) = default;

  const Module* module = nullptr;
  const Function* function = nullptr;
  std::vector<Step> steps;
  std::vector<Slot> slots;
  std::vector<Address> addresses;
  std::vector<std::uint32_t> image;
  std::vector<Filled> filled;

  // Registers that steps own are those of loads from tensor memory, and not of products: no target
  // has both.
  bool loads_tensor_memory = false;

  std::vector<Placed> placed;           // the function's variables
  std::vector<Placed> placed_globally;  // the module's: of shared memory, and of what it loads
  std::uint64_t parameter_bytes = 0;
  std::uint64_t local_bytes = 0;
  std::uint64_t static_shared_bytes = 0;  // what lies before the dynamic part
  std::uint64_t loaded_bytes = 0;         // global and constant variables

  // "Line 12 (kernel.cu:7)".
  std::string place_of(std::uint32_t instruction) const;
};

// Whether an instruction of the function can be executed.
bool has_model(const Function& function, const Instruction& instruction);

// The module must outlive the code. Instructions without a model are no obstacle before a thread
// reaches them.
Result<Code> prepare(const Module& module, const std::string& entry);

}  // namespace tw::vgpu::ptx
