#include "src/verify/matrix.h"

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
                       std::int64_t columns, bool unaligned, Spacing spacing)
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
  } else if (bits >= 8) {
    if (spacing == Spacing::FourBytes) space_by(4, length, lines);
    if (spacing == Spacing::EightBytes) space_by(8, length, lines);
    if (spacing == Spacing::Gaps && pitch == length) pitch += 2 * unit;
    constexpr std::int64_t most_far = 1024;  // each has a page of its own
    if (spacing == Spacing::Far && batch * lines > 1 && batch * lines <= most_far) {
      // Some of the lines lie behind the first 2^31 elements, and few behind 2^32: the virtual GPU
      // keeps a pointer for each page of that.
      const std::int64_t apart = (std::int64_t{1} << 32) / (batch * lines - 1);
      pitch = (std::min(apart, std::int64_t{1} << 30) + pitch) / unit * unit;
      is_far = true;
    }
    if (spacing >= Spacing::Gaps) batch_pitch = lines * pitch + unit;
  }
  elements = static_cast<std::size_t>(2 * guard + batch * batch_pitch + unit);
}

// Neither the first element nor the pitch is a multiple of more than so many bytes.
void HostMatrix::space_by(std::int64_t bytes, std::int64_t length, std::int64_t lines) {
  const std::int64_t step = std::max<std::int64_t>(1, 8 * bytes / bits_in(type));
  pitch = (length + step - 1) / step * step;
  if (pitch / step % 2 == 0) pitch += step;
  first += static_cast<std::size_t>(step);
  batch_pitch = lines * pitch + (lines % 2 == 0 ? step : 2 * step);
}

namespace {

constexpr std::size_t around = 64;  // elements before and behind lines that are far apart

}  // namespace

template <class Visit>
void HostMatrix::for_each_piece(const Visit& visit) const {
  if (far.empty()) return visit(std::size_t{0}, elements);
  for (const SparseBytes::Piece& piece : far.pieces()) {
    visit(piece.begin / bytes_of(type), piece.bytes / bytes_of(type));
  }
}

void HostMatrix::allocate() {
  if (!is_far) return bytes.resize((elements * bits_in(type) + 7) / 8);
  const std::int64_t lines = major == Major::K ? rows : columns;
  const std::int64_t length = major == Major::K ? columns : rows;
  const std::size_t size = bytes_of(type);
  std::vector<SparseBytes::Piece> pieces;
  for (std::int64_t matrix = 0; matrix < (batch_pitch == 0 ? 1 : batch); ++matrix) {
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::size_t begin =
          first + static_cast<std::size_t>(matrix * batch_pitch + line * pitch);
      pieces.push_back(
          {(begin - around) * size, (static_cast<std::size_t>(length) + 2 * around) * size});
    }
  }
  far = SparseBytes(elements * size, std::move(pieces));
}

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
  for_each_piece([&](std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count; ++i) set_code(i, poison_bits(type, i));
  });
}

std::int64_t HostMatrix::padding_touched() const {
  std::int64_t touched = 0;
  const auto is_touched = [&](std::size_t i) { return code(i) != poison_bits(type, i); };
  if (!far.empty()) {  // each piece is a line with some elements around it
    for_each_piece([&](std::size_t begin, std::size_t count) {
      for (std::size_t i = 0; i < around; ++i) {
        touched += is_touched(begin + i) + is_touched(begin + count - 1 - i);
      }
    });
    return touched;
  }
  std::vector<bool> inside(elements);
  for (std::int64_t matrix = 0; matrix < batch; ++matrix) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        inside[index(matrix, row, column)] = true;
      }
    }
  }
  for (std::size_t i = 0; i < inside.size(); ++i) touched += !inside[i] && is_touched(i);
  return touched;
}

}  // namespace tw
