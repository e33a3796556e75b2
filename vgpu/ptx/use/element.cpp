#include "vgpu/ptx/use/element.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "tilewright/base/require.h"
#include "tilewright/number/convert.h"

namespace tw::vgpu::ptx {
namespace {

template <class To, class From>
std::uint64_t bits_as(From value) {
  const To narrowed = static_cast<To>(value);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &narrowed, sizeof narrowed);
  return bits;
}

bool is_whole(std::string_view number) {
  return number.find_first_of(".eEn") == std::string_view::npos || number.starts_with("0x") ||
         number.starts_with("-0x");
}

double read_real(std::string_view number, std::string_view type_name) {
  const std::string text(number);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') {
    throw Refusal(fmt::format("'{}' is no number ({}).", number, type_name));
  }
  return value;
}

std::uint64_t read_whole(std::string_view number, const Element& element,
                         std::string_view type_name) {
  std::string_view digits = number;
  const bool is_negative = digits.starts_with('-');
  if (is_negative) digits.remove_prefix(1);
  int base = 10;
  if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), last, value, base);
  if (digits.empty() || rest != last || error == std::errc::invalid_argument) {
    throw Refusal(fmt::format("'{}' is no whole number, and {} takes one.", number, type_name));
  }
  const unsigned bits = 8 * element.bytes;
  const bool may_be_negative = element.kind != Element::Unsigned;
  const std::uint64_t most = element.kind == Element::Signed && base == 10
                                 ? (std::uint64_t{1} << (bits - 1)) - 1
                             : bits == 64 ? ~std::uint64_t{0}
                                          : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t least = may_be_negative ? std::uint64_t{1} << (bits - 1) : 0;
  if (error != std::errc() || value > (is_negative ? least : most)) {
    throw Refusal(fmt::format("{} does not fit into {}.", number, type_name));
  }
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return (is_negative ? 0 - value : value) & mask;
}

}  // namespace

const Element* find_element(std::string_view name) {
  static const std::unordered_map<std::string_view, Element> known = {
      {"u8", {Element::Unsigned, 1}},
      {"uint8", {Element::Unsigned, 1}},
      {"u16", {Element::Unsigned, 2}},
      {"uint16", {Element::Unsigned, 2}},
      {"u32", {Element::Unsigned, 4}},
      {"uint32", {Element::Unsigned, 4}},
      {"u64", {Element::Unsigned, 8}},
      {"uint64", {Element::Unsigned, 8}},
      {"s8", {Element::Signed, 1}},
      {"int8", {Element::Signed, 1}},
      {"s16", {Element::Signed, 2}},
      {"int16", {Element::Signed, 2}},
      {"s32", {Element::Signed, 4}},
      {"int32", {Element::Signed, 4}},
      {"s64", {Element::Signed, 8}},
      {"int64", {Element::Signed, 8}},
      {"f16", {Element::Half, 2}},
      {"float16", {Element::Half, 2}},
      {"bf16", {Element::Bfloat, 2}},
      {"bfloat16", {Element::Bfloat, 2}},
      {"f32", {Element::Float, 4}},
      {"float32", {Element::Float, 4}},
      {"f64", {Element::Float, 8}},
      {"float64", {Element::Float, 8}},
      {"tf32", {Element::Float, 4}},
      {"b8", {Element::Bits, 1}},
      {"b16", {Element::Bits, 2}},
      {"b32", {Element::Bits, 4}},
      {"b64", {Element::Bits, 8}},
      {"e4m3", {Element::Bits, 1}},
      {"e5m2", {Element::Bits, 1}},
      {"bool", {Element::Unsigned, 1}},
      {"u4", {Element::Bits, 1, 4}},
      {"u6", {Element::Bits, 1, 6}},
      {"b4x16", {Element::Bits, 1, 0, true}},
  };
  const auto found = known.find(name);
  return found == known.end() ? nullptr : &found->second;
}

std::uint64_t bits_of(std::string_view number, std::string_view type_name) {
  const Element* const element = find_element(type_name);
  if (element == nullptr || element->packed_bits != 0 || element->nibbles) {
    throw Refusal(fmt::format("'{}' is no type of numbers.", type_name));
  }
  switch (element->kind) {
    case Element::Half: return bits_as<Fp16>(static_cast<float>(read_real(number, type_name)));
    case Element::Bfloat: return bits_as<Bf16>(static_cast<float>(read_real(number, type_name)));
    case Element::Float: {
      const double value = read_real(number, type_name);
      return element->bytes == 4 ? bits_as<float>(value) : bits_as<double>(value);
    }
    case Element::Bits:
      // Bits take what is written: a number with a point is a float of this width.
      if (!is_whole(number) && element->bytes >= 4) {
        return bits_of(number, element->bytes == 4 ? "f32" : "f64");
      }
      break;
    case Element::Unsigned:
    case Element::Signed: break;
  }
  return read_whole(number, *element, type_name);
}

}  // namespace tw::vgpu::ptx
