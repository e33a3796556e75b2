#include "vgpu/ptx/use/map_words.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "vgpu/ptx/use/element.h"

namespace tw::vgpu::ptx {
namespace {

constexpr std::string_view known_words =
    "type, dims, strides, box, swizzle, offset, pixels, lower, upper and steps";

std::vector<std::int64_t> numbers(std::string_view key, std::string_view text) {
  std::vector<std::int64_t> read;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, number);
    if (error != std::errc() || rest != text.data() + end || begin == end) {
      throw Refusal(
          fmt::format("{} of a tensor map is '{}', but must be whole numbers with an x "
                      "between them.",
                      key, text));
    }
    read.push_back(number);
    begin = end + 1;
  }
  return read;
}

MapNumber number_of(Element::Kind kind) {
  switch (kind) {
    case Element::Unsigned: return MapNumber::Unsigned;
    case Element::Signed: return MapNumber::Signed;
    case Element::Half: return MapNumber::Half;
    case Element::Bfloat: return MapNumber::Bfloat;
    case Element::Float: return MapNumber::Float;
    case Element::Bits: break;
  }
  return MapNumber::Unknown;
}

class Words {
 public:
  explicit Words(const Array& array) : array_(array) {}

  void take(std::string_view key, std::string_view value) {
    if (key == "type") {
      type_ = value;
    } else if (key == "dims") {
      dims_ = numbers(key, value);
    } else if (key == "strides") {
      strides_ = numbers(key, value);
    } else if (key == "box") {
      box_ = numbers(key, value);
    } else if (key == "swizzle") {
      swizzle_ = numbers(key, value);
    } else if (key == "offset") {
      offset_ = numbers(key, value);
    } else if (key == "pixels") {
      pixels_ = numbers(key, value);
    } else if (key == "lower") {
      lower_ = numbers(key, value);
    } else if (key == "upper") {
      upper_ = numbers(key, value);
    } else if (key == "steps") {
      steps_ = numbers(key, value);
    } else {
      throw Refusal(fmt::format("A tensor map has no '{}': it has {}.", key, known_words));
    }
  }

  TensorMap encode() {
    TileMap map{};
    describe_tensor(map);
    const unsigned spatial = map.rank >= 2 ? map.rank - 2 : 0;
    if (!pixels_.empty()) {
      expect(pixels_, "pixels", 1);
      expect(box_, "box", 1);
      expect(lower_, "lower", spatial);
      expect(upper_, "upper", spatial);
      if (steps_.empty()) steps_.assign(spatial, 1);
      expect(steps_, "steps", spatial);
      if (map.rank < 3 || map.rank > 5) {
        throw Refusal(fmt::format("im2col has 3 to 5 dimensions, and not {}.", map.rank));
      }
      map.im2col.pixels = static_cast<std::uint32_t>(pixels_[0]);
      for (unsigned i = 0; i < spatial; ++i) {
        map.im2col.lower[i] = static_cast<int>(lower_[i]);
        map.im2col.upper[i] = static_cast<int>(upper_[i]);
        map.im2col.steps[i] = static_cast<std::uint32_t>(steps_[i]);
      }
      map.box[0] = static_cast<std::uint32_t>(box_[0]);
    } else {
      expect(box_, "box", map.rank);
      for (unsigned d = 0; d < map.rank; ++d) map.box[d] = static_cast<std::uint32_t>(box_[d]);
    }
    const Status status = check(map);
    if (!status.is_good()) throw Refusal(status.sentence());
    check_extent(map);
    return vgpu::encode(map);
  }

 private:
  static void expect(const std::vector<std::int64_t>& given, const char* key, std::size_t count) {
    if (given.size() == count) return;
    throw Refusal(
        fmt::format("A tensor map has {} numbers of '{}', and not {}.", count, key, given.size()));
  }

  // Elements of 4 bits: what is said counts them, and the map counts bytes, as the array does.
  void halve_first() {
    for (std::vector<std::int64_t>* const one : {&dims_, &box_}) {
      if (one->empty()) continue;
      if (one->front() % 32 != 0) {
        throw Refusal(
            fmt::format("Lines and boxes of elements of 4 bits are multiples of 32, and "
                        "not {}.",
                        one->front()));
      }
      one->front() /= 2;
    }
  }

  void describe_tensor(TileMap& map) {
    if (type_.empty()) type_ = array_.words().type;
    const Element* const element = find_element(type_);
    if (element == nullptr) {
      throw Refusal(fmt::format("The type '{}' of a tensor map of {} is not known.", type_,
                                array_.words().name));
    }
    map.element_bytes = element->bytes;
    map.packed_bits = element->packed_bits;
    map.number = number_of(element->kind);
    map.nibbles = element->nibbles;
    if (map.nibbles) halve_first();
    if (dims_.empty()) {
      for (auto i = array_.words().extents.rbegin(); i != array_.words().extents.rend(); ++i) {
        dims_.push_back(static_cast<std::int64_t>(*i));
      }
    }
    if (dims_.empty() || dims_.size() > 5) {
      throw Refusal(fmt::format("A tensor map has 1 to 5 dimensions, and not {}.", dims_.size()));
    }
    map.rank = static_cast<std::uint32_t>(dims_.size());
    if (strides_.empty()) {
      std::int64_t bytes = static_cast<std::int64_t>(element->bytes);
      for (unsigned d = 0; d + 1 < map.rank; ++d) strides_.push_back(bytes *= dims_[d]);
    }
    expect(strides_, "strides", map.rank - 1);
    for (unsigned d = 0; d < map.rank; ++d) {
      map.extents[d] = dims_[d] < 0 ? 0 : static_cast<std::uint64_t>(dims_[d]);
    }
    for (unsigned d = 0; d + 1 < map.rank; ++d) {
      if (strides_[d] < 0) throw Refusal("The strides of a tensor map are not negative.");
      map.pitch_bytes[d] = static_cast<std::uint64_t>(strides_[d]);
    }
    if (offset_.empty()) offset_ = {0};
    expect(offset_, "offset", 1);
    map.base = array_.data() + offset_[0];
    if (swizzle_.empty()) swizzle_ = {0};
    expect(swizzle_, "swizzle", 1);
    switch (swizzle_[0]) {
      case 0: map.swizzle = MapSwizzle::None; break;
      case 32: map.swizzle = MapSwizzle::Bytes32; break;
      case 64: map.swizzle = MapSwizzle::Bytes64; break;
      case 128: map.swizzle = MapSwizzle::Bytes128; break;
      default:
        throw Refusal(fmt::format("The swizzle of a tensor map is 0, 32, 64 or 128 bytes, not {}.",
                                  swizzle_[0]));
    }
  }

  // A map that reaches beyond its array would be found by the first copy; say it at once.
  void check_extent(const TileMap& map) const {
    const unsigned bits = map.packed_bits != 0 ? map.packed_bits : 8 * map.element_bytes;
    std::uint64_t last = map.extents[0] * bits / 8;
    for (unsigned d = 1; d < map.rank; ++d) last += (map.extents[d] - 1) * map.pitch_bytes[d - 1];
    const std::uint64_t end = last + static_cast<std::uint64_t>(offset_[0]);
    if (offset_[0] >= 0 && end <= array_.words().bytes) return;
    throw Refusal(fmt::format("The tensor of a map ends at byte {} of {}, which has {}.", end,
                              array_.words().name, array_.words().bytes));
  }

  const Array& array_;
  std::string type_;
  std::vector<std::int64_t> dims_, strides_, box_, swizzle_, offset_, pixels_, lower_, upper_,
      steps_;
};

}  // namespace

TensorMap map_of(std::string_view words, const Array& array) {
  Words read(array);
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(','), words.size());
    const std::string_view word = words.substr(0, end);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      throw Refusal(fmt::format("'{}' of a tensor map must be KEY=VALUE.", word));
    }
    read.take(word.substr(0, equals), word.substr(equals + 1));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return read.encode();
}

}  // namespace tw::vgpu::ptx
