// Stacks for fibers, mapped once and used again. A stack that was abandoned in the middle of a call
// goes back like any other: nothing on it is ever unwound.
#pragma once

#include <cstddef>
#include <vector>

namespace tw::vgpu {

struct Stack {
  std::byte* top = nullptr;
  std::size_t bytes = 0;
  std::size_t guard_bytes = 0;  // below it, which nobody can touch
};

// Fills what a kernel's frames will take with bytes that are NaN in every floating-point format:
// whoever reads a variable before it has a value shall not find zeros, nor what the thread that had
// this stack before left there.
void poison_stack(const Stack& stack);
// The same of what the frames of the caller's next calls will take.
void poison_below();

class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();

  Stack take();
  void give_back(Stack stack) { free_.push_back(stack); }
  bool holds(const void* address) const;

 private:
  void map_more();

  struct Mapping {
    void* begin;
    std::size_t bytes;
  };
  std::vector<Mapping> mappings_;
  std::vector<Stack> free_;
};

}  // namespace tw::vgpu
