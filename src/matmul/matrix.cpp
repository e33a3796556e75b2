#include "src/matmul/matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tw {

namespace {

template <class T>
T load(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <class T>
double read(const void* address) {
  if constexpr (std::is_integral_v<T>)
    return load<T>(address);
  else
    return static_cast<float>(load<T>(address));
}

template <class T>
T cast(double value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::clamp<double>(std::nearbyint(value), std::numeric_limits<T>::min(),
                                             std::numeric_limits<T>::max()));
  } else {
    return static_cast<T>(static_cast<float>(value));
  }
}

// Calls `body` with an element of the type.
template <class Body>
auto with_element(ElementType type, const Body& body) {
  switch (type) {
    case ElementType::Bf16: return body(Bf16{});
    case ElementType::Fp16: return body(Fp16{});
    case ElementType::Fp32: return body(float{});
    case ElementType::Tf32: return body(Tf32{});
    case ElementType::E4m3: return body(E4m3{});
    case ElementType::E5m2: return body(E5m2{});
    case ElementType::S8: return body(std::int8_t{});
    case ElementType::E2m1: return body(E2m1{});
    case ElementType::E2m3: return body(E2m3{});
    case ElementType::E3m2: return body(E3m2{});
    default: return body(std::int32_t{});
  }
}

}  // namespace

double read_element(ElementType type, const void* address) {
  return with_element(type, [&](auto zero) { return read<decltype(zero)>(address); });
}

void write_element(ElementType type, void* address, double value) {
  with_element(type, [&](auto zero) {
    const auto element = cast<decltype(zero)>(value);
    std::memcpy(address, &element, sizeof element);
  });
}

std::uint32_t read_bits(ElementType type, const void* address) {
  std::uint32_t bits = 0;  // little endian
  std::memcpy(&bits, address, bytes_of(type));
  return bits;
}

double rounded_to(ElementType type, double value) {
  return with_element(type, [&](auto zero) {
    const auto element = cast<decltype(zero)>(value);
    return read<decltype(zero)>(&element);
  });
}

std::uint32_t poison_bits(ElementType type, std::size_t index) {
  // Neither 0 nor the ends of the range, which right results often are.
  const auto varied = static_cast<std::uint32_t>(0x41 + index * 37 % 61);
  switch (type) {
    case ElementType::Bf16: return 0x7fa5;
    case ElementType::Fp16: return 0x7da5;
    case ElementType::E4m3: return 0xff;
    case ElementType::E5m2: return 0x7d;
    case ElementType::S8: return index % 2 == 0 ? varied : 0x100 - varied;
    case ElementType::S32: return 0xa5a50000 + varied;
    case ElementType::E2m1:
    case ElementType::E2m3:
    case ElementType::E3m2: return varied % (1u << bits_in(type));
    default: return 0x7fa5a5a5;
  }
}

HostMatrix::HostMatrix(ElementType type, Major major, std::int64_t batch, std::int64_t rows,
                       std::int64_t columns, bool unaligned)
    : type(type), major(major), batch(batch), rows(rows), columns(columns) {
  constexpr std::int64_t guard_bytes = 256;
  const unsigned bits = bits_in(type);
  const std::int64_t unit = bits < 8 ? 128 : 128 / bits;
  const std::int64_t guard = bits < 8 ? 512 : 8 * guard_bytes / bits;
  const std::int64_t length = major == Major::K ? columns : rows;
  const std::int64_t lines = major == Major::K ? rows : columns;
  pitch = std::max<std::int64_t>(1, (length + unit - 1) / unit) * unit;
  first = static_cast<std::size_t>(guard);
  batch_pitch = lines * pitch + unit;
  if (unaligned) {
    // So many elements fill whole bytes.
    const std::int64_t byte = bits < 8 ? 8 / (bits & (~bits + 1)) : 1;
    pitch = (length + byte) / byte * byte;
    if (pitch * bits % 128 == 0) pitch += byte;
    first += static_cast<std::size_t>(byte);
    batch_pitch = lines * pitch + byte;
  }
  elements = static_cast<std::size_t>(2 * guard + batch * batch_pitch + unit);
}

void HostMatrix::allocate() { bytes.resize((elements * bits_in(type) + 7) / 8); }

std::uint32_t HostMatrix::code(std::size_t index) const {
  const unsigned width = bits_in(type);
  if (width >= 8) return read_bits(type, element(index));
  const std::size_t bit = index * width;
  auto window = static_cast<std::uint32_t>(bytes[bit / 8]);
  if (bit % 8 + width > 8) window |= static_cast<std::uint32_t>(bytes[bit / 8 + 1]) << 8;
  return window >> bit % 8 & ((1u << width) - 1);
}

void HostMatrix::set_code(std::size_t index, std::uint32_t code) {
  const unsigned width = bits_in(type);
  if (width >= 8) {
    std::memcpy(element(index), &code, bytes_of(type));
    return;
  }
  for (std::size_t bit = index * width; bit < (index + 1) * width; ++bit, code >>= 1) {
    const auto mask = std::byte{1} << bit % 8;
    std::byte& byte = bytes[bit / 8];
    byte = (code & 1) != 0 ? byte | mask : byte & ~mask;
  }
}

void HostMatrix::poison() {
  for (std::size_t i = 0; i < elements; ++i) set_code(i, poison_bits(type, i));
}

std::int64_t HostMatrix::padding_touched() const {
  std::vector<bool> inside(elements);
  for (std::int64_t matrix = 0; matrix < batch; ++matrix) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        inside[index(matrix, row, column)] = true;
      }
    }
  }
  std::int64_t touched = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    touched += !inside[i] && code(i) != poison_bits(type, i);
  }
  return touched;
}

}  // namespace tw
