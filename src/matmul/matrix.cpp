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
    default: return 0x7fa5a5a5;
  }
}

HostMatrix::HostMatrix(ElementType type, Major major, std::int64_t batch, std::int64_t rows,
                       std::int64_t columns, bool unaligned)
    : type(type), major(major), batch(batch), rows(rows), columns(columns) {
  constexpr std::int64_t guard_bytes = 256;
  const std::int64_t unit = 16 / bytes_of(type);
  const std::int64_t guard = guard_bytes / bytes_of(type);
  const std::int64_t length = major == Major::K ? columns : rows;
  const std::int64_t lines = major == Major::K ? rows : columns;
  pitch = std::max<std::int64_t>(1, (length + unit - 1) / unit) * unit;
  first = static_cast<std::size_t>(guard);
  batch_pitch = lines * pitch + unit;
  if (unaligned) {
    pitch = length + (length % unit == unit - 1 ? 2 : 1);
    first += 1;
    batch_pitch = lines * pitch + 1;
  }
  elements = static_cast<std::size_t>(2 * guard + batch * batch_pitch + unit);
}

void HostMatrix::allocate() { bytes.resize(elements * bytes_of(type)); }

void HostMatrix::poison() {
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint32_t bits = poison_bits(type, i);
    std::memcpy(element(i), &bits, bytes_of(type));
  }
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
    touched += !inside[i] && read_bits(type, element(i)) != poison_bits(type, i);
  }
  return touched;
}

}  // namespace tw
