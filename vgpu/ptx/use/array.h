// Memory that a kernel may touch, by the name under which arguments speak of it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "vgpu/machine/machine.h"

namespace tw::vgpu::ptx {

enum class Flow : std::uint8_t {
  Read,     // writing is a finding
  Both,     // it begins with the given bytes
  Written,  // reading what nobody wrote is a finding
};

struct ArrayWords {
  std::string name;
  std::string type;                    // its name in find_element; may be empty
  std::vector<std::uint64_t> extents;  // the last one is the innermost
  std::size_t bytes = 0;
  Flow flow = Flow::Both;
};

class Array {
 public:
  // `given` are the bytes with which it begins: as many as the words say, or none if it is written.
  Array(ArrayWords words, std::span<const std::byte> given);

  const ArrayWords& words() const { return words_; }
  std::byte* data() const { return memory_.get(); }
  std::span<const std::byte> bytes() const { return {memory_.get(), words_.bytes}; }
  // What it began with.
  void reset();
  GlobalRange range() const;

 private:
  static constexpr std::size_t alignment = 256;  // cudaMalloc's
  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete[](memory, std::align_val_t{alignment});
    }
  };
  ArrayWords words_;
  std::vector<std::byte> given_;
  std::unique_ptr<std::byte[], Free> memory_;
};

}  // namespace tw::vgpu::ptx
