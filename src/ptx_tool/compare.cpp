#include "src/ptx_tool/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "tilewright/base/require.h"
#include "tilewright/number/convert.h"
#include "vgpu/ptx/use/element.h"

namespace tw::ptx_tool {
namespace {

using vgpu::ptx::Element;

template <class T>
double as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

template <class T>
double narrow(const std::byte* at) {
  T value;
  std::memcpy(&value.bits, at, sizeof value.bits);
  return static_cast<double>(static_cast<float>(value));
}

double value_at(const Element& element, const std::byte* at) {
  switch (element.kind) {
    case Element::Half: return narrow<Fp16>(at);
    case Element::Bfloat: return narrow<Bf16>(at);
    case Element::Float: return element.bytes == 4 ? as<float>(at) : as<double>(at);
    case Element::Signed:
      return element.bytes == 1   ? as<std::int8_t>(at)
             : element.bytes == 2 ? as<std::int16_t>(at)
             : element.bytes == 4 ? as<std::int32_t>(at)
                                  : as<std::int64_t>(at);
    case Element::Unsigned:
    case Element::Bits: break;
  }
  return element.bytes == 1   ? as<std::uint8_t>(at)
         : element.bytes == 2 ? as<std::uint16_t>(at)
         : element.bytes == 4 ? as<std::uint32_t>(at)
                              : as<std::uint64_t>(at);
}

std::vector<std::uint64_t> position(std::uint64_t index,
                                    const std::vector<std::uint64_t>& extents) {
  std::vector<std::uint64_t> at(extents.size());
  for (std::size_t d = extents.size(); d-- > 0; index /= extents[d]) at[d] = index % extents[d];
  return at;
}

}  // namespace

Expectation read_expectation(const std::string& words) {
  const std::size_t equals = words.find('=');
  if (equals == std::string::npos) {
    throw Refusal(fmt::format("--expect is '{}', but must be ARRAY=FILE.npy.", words));
  }
  Expectation expectation;
  expectation.array = words.substr(0, equals);
  expectation.file = words.substr(equals + 1);
  const std::size_t comma = expectation.file.rfind(",bound=");
  if (comma != std::string::npos) {
    const std::string bound = expectation.file.substr(comma + 7);
    char* end = nullptr;
    expectation.bound = std::strtod(bound.c_str(), &end);
    if (bound.empty() || *end != '\0' || !(expectation.bound >= 0)) {
      throw Refusal(
          fmt::format("The bound '{}' of --expect is no number that is not negative.", bound));
    }
    expectation.file.resize(comma);
  }
  expectation.wanted = read_npy(expectation.file);
  return expectation;
}

void check(const Expectation& expectation, const vgpu::ptx::Array& array) {
  const NpyArray& wanted = expectation.wanted;
  if (wanted.bytes.size() != array.words().bytes) {
    throw Refusal(fmt::format("{} has {} bytes, and what is expected of it has {}.",
                              array.words().name, array.words().bytes, wanted.bytes.size()));
  }
}

std::string difference(const Expectation& expectation, const vgpu::ptx::Array& array) {
  const Element* own = vgpu::ptx::find_element(array.words().type);
  const Element& element =
      own == nullptr ? *vgpu::ptx::find_element(expectation.wanted.type) : *own;
  const auto bytes = array.bytes();
  std::uint64_t differ = 0, first = 0;
  const std::uint64_t count = bytes.size() / element.bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* const is = bytes.data() + i * element.bytes;
    const std::byte* const wanted = expectation.wanted.bytes.data() + i * element.bytes;
    if (std::memcmp(is, wanted, element.bytes) == 0) continue;
    if (expectation.bound > 0 &&
        std::abs(value_at(element, is) - value_at(element, wanted)) <= expectation.bound) {
      continue;
    }
    if (differ++ == 0) first = i;
  }
  if (differ == 0) return "";
  return fmt::format("{}[{}] is {}, and not {}: {} of {} elements differ from {}.",
                     array.words().name,
                     fmt::join(position(first, expectation.wanted.extents), ", "),
                     value_at(element, bytes.data() + first * element.bytes),
                     value_at(element, expectation.wanted.bytes.data() + first * element.bytes),
                     differ, count, expectation.file);
}

}  // namespace tw::ptx_tool
