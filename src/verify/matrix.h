// Typed, batched, pitched matrices in host memory, and their elements as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "src/instances/spacing.h"
#include "src/verify/sparse_bytes.h"
#include "tilewright/io/major.h"
#include "tilewright/number/element_type.h"

namespace tw {

// An element that stands alone in memory, as a number and as its bits.
double read_element(ElementType type, const void* address);
void write_element(ElementType type, void* address, double value);
std::uint32_t read_bits(ElementType type, const void* address);
// `value` as a kernel casts it: to the nearest, ties to even; 8-bit types and integers saturate.
double rounded_to(ElementType type, double value);
// What an output holds before a kernel runs. No conversion makes these bits of a float; integers
// have no such bits, so that theirs change from element to element.
std::uint32_t poison_bits(ElementType type, std::size_t index);

// Memory that begins at a multiple of 256 bytes, as that of a GPU does.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{256};
  AlignedAllocator() = default;
  template <class Other>
  AlignedAllocator(const AlignedAllocator<Other>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, alignment); }
  bool operator==(const AlignedAllocator&) const = default;
};
using AlignedBytes = std::vector<std::byte, AlignedAllocator<std::byte>>;

// Elements of fewer than 8 bits are packed: lines begin at multiples of 128 of them, or `unaligned`
// at a byte.
//
// Lines of memory run along k with Major::K and along the rows with Major::MN. Around the matrices
// and behind every line that is not a multiple of 16 bytes lies memory that nobody may touch.
struct HostMatrix {
  HostMatrix() = default;
  // Without memory. `unaligned`: the first element and the pitch are off 16 bytes, whatever the
  // spacing.
  HostMatrix(ElementType type, Major major, std::int64_t batch, std::int64_t rows,
             std::int64_t columns, bool unaligned, Spacing spacing = Spacing::Usual);

  void allocate();

  bool exists() const { return batch > 0; }
  // Where an element lies, counted from the first byte, in elements.
  std::size_t index(std::int64_t matrix, std::int64_t row, std::int64_t column) const {
    const std::int64_t line = major == Major::K ? row * pitch + column : column * pitch + row;
    return first + static_cast<std::size_t>(matrix * batch_pitch + line);
  }
  // Elements must not be packed.
  void* element(std::size_t index) { return memory() + index * bytes_of(type); }
  const void* element(std::size_t index) const { return memory() + index * bytes_of(type); }
  // From the first byte to the first element.
  std::size_t offset() const { return first * bits_in(type) / 8; }
  void* data() { return exists() ? memory() + offset() : nullptr; }
  const void* data() const { return exists() ? memory() + offset() : nullptr; }
  // The bits of any element.
  std::uint32_t code(std::size_t index) const;
  void set_code(std::size_t index, std::uint32_t code);
  double at(std::int64_t matrix, std::int64_t row, std::int64_t column) const {
    const std::size_t place = index(matrix, row, column);
    if (bits_in(type) >= 8) return read_element(type, element(place));  // references ask often
    const std::uint32_t bits = code(place);
    return read_element(type, &bits);
  }
  void set(std::int64_t matrix, std::int64_t row, std::int64_t column, double value) {
    std::uint32_t bits = 0;  // little endian
    write_element(type, &bits, value);
    set_code(index(matrix, row, column), bits);
  }
  // Calls set for every element, batch by batch and row by row.
  template <class Function>
  void fill(const Function& function) {
    for (std::int64_t matrix = 0; matrix < batch; ++matrix) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
          set(matrix, row, column, function(matrix, row, column));
        }
      }
    }
  }
  void poison();
  // Elements outside of the matrices that are no longer what poison() left.
  std::int64_t padding_touched() const;
  // All of it, padding included.
  bool same_bytes(const HostMatrix& other) const {
    return bytes == other.bytes && far == other.far;
  }

  ElementType type = ElementType::Bf16;
  Major major = Major::K;
  std::int64_t batch = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t pitch = 0;        // in elements
  std::int64_t batch_pitch = 0;  // in elements
  std::size_t first = 0;         // element, counted in elements from the first byte
  std::size_t elements = 0;      // with all that lies around the matrices
  bool is_far = false;
  AlignedBytes bytes;  // empty where lines are far apart
  SparseBytes far;

 private:
  std::byte* memory() { return far.empty() ? bytes.data() : far.data(); }
  const std::byte* memory() const { return far.empty() ? bytes.data() : far.data(); }
  void space_by(std::int64_t bytes, std::int64_t length, std::int64_t lines);
  // Calls visit(first element, elements) for all memory that there is.
  template <class Visit>
  void for_each_piece(const Visit& visit) const;
};

}  // namespace tw
