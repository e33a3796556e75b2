// An entry of a module, made ready to run, with the functions that it calls.
#pragma once

#include <memory>
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

// One function.
struct Body {
  Body() = default;
  Body(const Body&) = delete;  // steps point into the vectors
  Body& operator=(const Body&) = delete;

  const Function* function = nullptr;
  std::vector<Step> steps;
  std::vector<Slot> slots;
  std::vector<Address> addresses;
  std::vector<std::uint32_t> image;
  std::vector<Filled> filled;

  // Registers that steps own are those of loads from tensor memory, and not of products: no target
  // has both.
  bool loads_tensor_memory = false;
  bool writes_later = false;  // some of its registers are written by others, later

  std::vector<Placed> placed;  // its variables; its parameters lie in local memory, not an entry's
  std::uint64_t local_bytes = 0;
};

struct Code {
  const Module* module = nullptr;
  const Function* function = nullptr;         // the entry
  std::vector<std::unique_ptr<Body>> bodies;  // by function; null: the entry cannot reach it
  const Body* entry = nullptr;

  std::vector<Placed> placed_globally;  // the module's: of shared memory, and of what it loads
  std::uint64_t parameter_bytes = 0;
  std::uint64_t static_shared_bytes = 0;  // what lies before the dynamic part
  std::uint64_t loaded_bytes = 0;         // global and constant variables

  // Instructions that touch memory, by Step::site - 1.
  struct SitePlace {
    const Function* function;
    std::uint32_t instruction;
  };
  std::vector<SitePlace> sites;

  // "Line 12 (kernel.cu:7)".
  std::string place_of(const Function& in, std::uint32_t instruction) const;

  // Calls visit(variable, placed) for the variables of the module, and for those of all functions
  // that are no parameters of the entry.
  template <class Visit>
  void each_variable(const Visit& visit) const {
    for (std::size_t i = 0; i < module->variables.size(); ++i) {
      visit(module->variables[i], placed_globally[i]);
    }
    for (const auto& body : bodies) {
      if (body == nullptr) continue;
      for (std::size_t i = 0; i < body->placed.size(); ++i) {
        if (!body->function->is_entry || i >= body->function->parameters) {
          visit(body->function->variables[i], body->placed[i]);
        }
      }
    }
  }
};

// What the address of a function is: a number that is no address of memory.
constexpr std::uint64_t function_begin = std::uint64_t{3} << 60;

// Whether an instruction of the function can be executed.
bool has_model(const Function& function, const Instruction& instruction);

// The module must outlive the code. Instructions without a model are no obstacle before a thread
// reaches them.
Result<Code> prepare(const Module& module, const std::string& entry);

}  // namespace tw::vgpu::ptx
