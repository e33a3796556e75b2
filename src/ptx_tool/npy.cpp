#include "src/ptx_tool/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <map>

#include "tilewright/base/require.h"
#include "vgpu/ptx/use/element.h"

namespace tw::ptx_tool {
namespace {

using vgpu::ptx::Element;

constexpr std::string_view magic = "\x93NUMPY";

const std::map<std::string_view, std::string_view>& types() {
  static const std::map<std::string_view, std::string_view> known = {
      {"f2", "float16"}, {"f4", "float32"}, {"f8", "float64"}, {"i1", "int8"},
      {"i2", "int16"},   {"i4", "int32"},   {"i8", "int64"},   {"u1", "uint8"},
      {"u2", "uint16"},  {"u4", "uint32"},  {"u8", "uint64"},  {"b1", "bool"}};
  return known;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Refusal(fmt::format("The array '{}' {}.", path, why));
}

// What stands behind 'key': in the header's dictionary.
std::string_view behind(std::string_view header, const std::string& key, const std::string& path) {
  const std::size_t at = header.find("'" + key + "':");
  if (at == std::string_view::npos) refuse(path, "has no '" + key + "' in its header");
  header.remove_prefix(at + key.size() + 3);
  const std::size_t first = header.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view() : header.substr(first);
}

}  // namespace

NpyArray read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!text.starts_with(magic) || text.size() < 12) refuse(path, "is no .npy file");
  const bool is_first = text[6] == 1;
  std::size_t length = 0;
  for (unsigned i = 0; i < (is_first ? 2u : 4u); ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(text[8 + i])) << 8 * i;
  }
  const std::size_t begin = is_first ? 10 : 12;
  if (length > text.size() - begin) refuse(path, "ends within its header");
  const std::string_view header = std::string_view(text).substr(begin, length);

  NpyArray array;
  const std::string_view descr = behind(header, "descr", path);
  const std::string_view code = descr.size() > 4 ? descr.substr(2, 2) : "";
  const bool is_little = descr.size() > 1 && (descr[1] == '<' || descr[1] == '|');
  const auto type = types().find(code);
  if (type == types().end() || !is_little) {
    refuse(path, fmt::format("has elements of {}, which are not taken",
                             descr.substr(0, descr.find(','))));
  }
  array.type = type->second;
  if (!behind(header, "fortran_order", path).starts_with("False")) {
    refuse(path, "is in Fortran's order; numpy.ascontiguousarray makes it one of C's");
  }
  std::string_view shape = behind(header, "shape", path);
  shape = shape.substr(0, shape.find(')'));
  std::uint64_t elements = 1;
  for (std::size_t at = 0; at < shape.size();) {
    std::uint64_t extent = 0;
    const auto [rest, error] =
        std::from_chars(shape.data() + at, shape.data() + shape.size(), extent);
    if (error == std::errc()) {
      array.extents.push_back(extent);
      elements *= extent;
      at = static_cast<std::size_t>(rest - shape.data());
    } else {
      ++at;
    }
  }
  const std::size_t bytes = elements * vgpu::ptx::find_element(array.type)->bytes;
  if (text.size() - begin - length != bytes) {
    refuse(path, fmt::format("has {} bytes of elements, and its shape takes {}",
                             text.size() - begin - length, bytes));
  }
  const auto* const first = reinterpret_cast<const std::byte*>(text.data()) + begin + length;
  array.bytes.assign(first, first + bytes);
  return array;
}

std::string npy_text(const vgpu::ptx::Array& array) {
  const Element* const element = vgpu::ptx::find_element(array.words().type);
  const unsigned bytes = element == nullptr ? 1 : element->bytes;
  std::string code = fmt::format("u{}", bytes);
  for (const auto& [letters, name] : types()) {
    const Element* const known = vgpu::ptx::find_element(name);
    if (element != nullptr && known->kind == element->kind && known->bytes == bytes &&
        letters != "b1") {
      code = letters;
    }
  }
  std::string header = fmt::format(
      "{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", bytes == 1 ? '|' : '<',
      code, fmt::join(array.words().extents, ", "), array.words().extents.size() == 1 ? "," : "");
  while ((magic.size() + 4 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string text(magic);
  text += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  text += header;
  const auto contents = array.bytes();
  return text.append(reinterpret_cast<const char*>(contents.data()), contents.size());
}

}  // namespace tw::ptx_tool
