// Tensor maps that a kernel makes: fields are replaced in shared memory, and the whole is copied to
// where copies find it. A map between these has its fields in a form of its own.
#include <cstring>

#include "tilewright/isa/model/shared_memory.h"
#include "vgpu/data/tile_map.h"
#include "vgpu/machine/engine.h"
#include "vgpu/ptx/run/form_table.h"
#include "vgpu/ptx/run/spaces.h"

namespace tw::vgpu::ptx {
namespace {

constexpr std::uint64_t draft_magic = 0x7477'6472'6166'7400;  // no address begins so
constexpr unsigned map_bytes = sizeof(TensorMap), piece_bytes = 16;

struct Draft {
  std::uint64_t magic;
  std::uint64_t base;
  std::uint64_t pitch_bytes[4];
  std::uint32_t extents[5];
  std::uint16_t box[5];
  std::uint8_t rank, element_bytes, swizzle, number;
};
static_assert(sizeof(Draft) <= map_bytes);

enum class Field : std::uint32_t {
  Address,
  Rank,
  Box,
  Extent,
  Stride,
  ElementStride,
  Type,
  Interleave,
  Swizzle,
  Fill
};

// Bytes of what .elemtype says; 0: packed below a byte.
constexpr std::uint8_t element_bytes[16] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4, 0, 0, 0};

constexpr MapNumber element_numbers[16] = {
    MapNumber::Unsigned, MapNumber::Unsigned, MapNumber::Unsigned, MapNumber::Signed,
    MapNumber::Unsigned, MapNumber::Signed,   MapNumber::Half,     MapNumber::Float,
    MapNumber::Float,    MapNumber::Float,    MapNumber::Bfloat,   MapNumber::Float,
    MapNumber::Float,    MapNumber::Unknown,  MapNumber::Unknown,  MapNumber::Unknown};

SharedAddress shared_part(const Frame& frame, const Address& address) {
  return static_cast<SharedAddress>(address_of(frame, address));
}

Draft draft_of(const TensorMap& map) {
  Draft draft = {};
  std::memcpy(&draft, &map, sizeof draft);
  if (draft.magic == draft_magic) return draft;
  draft = {};
  draft.magic = draft_magic;
  if (map.words[0] == 0) return draft;
  const TileMap known = decode(map);
  draft.base = reinterpret_cast<std::uintptr_t>(known.base);
  draft.rank = static_cast<std::uint8_t>(known.rank);
  draft.element_bytes = static_cast<std::uint8_t>(known.element_bytes);
  draft.swizzle = static_cast<std::uint8_t>(known.swizzle);
  draft.number = static_cast<std::uint8_t>(known.number);
  for (unsigned d = 0; d < known.rank; ++d) {
    draft.extents[d] = static_cast<std::uint32_t>(known.extents[d]);
    draft.box[d] = static_cast<std::uint16_t>(known.box[d]);
  }
  for (unsigned d = 1; d < known.rank; ++d) draft.pitch_bytes[d - 1] = known.pitch_bytes[d - 1];
  return draft;
}

TensorMap load_map(SharedAddress at) {
  std::byte bytes[map_bytes];
  for (unsigned i = 0; i < map_bytes; i += piece_bytes) {
    model::load_shared(bytes + i, at + i, piece_bytes);
  }
  TensorMap map;
  std::memcpy(&map, bytes, map_bytes);
  return map;
}

// [map], value, or [map], which, value.
template <class T>
void replace(Frame& frame, const Step& step) {
  const auto field = static_cast<Field>(step.detail & 0xff);
  const bool has_place = (step.detail >> 8 & 1) != 0;
  const std::uint32_t which = has_place ? get<std::uint32_t>(frame, step.slots[0]) : 0;
  const std::uint64_t value = get<T>(frame, step.slots[has_place ? 1 : 0]);
  const SharedAddress at = shared_part(frame, step.addresses[0]);
  Draft draft = engine().refusing([&] { return draft_of(load_map(at)); });
  if (which > (field == Field::Stride ? 3u : 4u)) {
    stop_incomplete(frame, "names a dimension beyond the fifth");
  }
  switch (field) {
    case Field::Address: draft.base = value; break;
    case Field::Rank: draft.rank = static_cast<std::uint8_t>(value + 1); break;
    case Field::Box: draft.box[which] = static_cast<std::uint16_t>(value); break;
    case Field::Extent: draft.extents[which] = static_cast<std::uint32_t>(value); break;
    case Field::Stride: draft.pitch_bytes[which] = value; break;
    case Field::ElementStride:
      if (value != 1) stop_incomplete(frame, "takes every so-many-th element, which has no model");
      break;
    case Field::Type:
      draft.element_bytes = element_bytes[value & 15];
      draft.number = static_cast<std::uint8_t>(element_numbers[value & 15]);
      if (draft.element_bytes == 0) stop_incomplete(frame, "of packed elements has no model yet");
      break;
    case Field::Swizzle: draft.swizzle = static_cast<std::uint8_t>(value); break;
    case Field::Interleave:
    case Field::Fill:
      if (value != 0) stop_incomplete(frame, "of this value has no model");
      break;
  }
  std::byte bytes[map_bytes] = {};
  std::memcpy(bytes, &draft, sizeof draft);
  for (unsigned i = 0; i < map_bytes; i += piece_bytes) {
    model::store_shared(at + i, bytes + i, piece_bytes);
  }
}

TensorMap finished(const Draft& draft) {
  TileMap map{};
  map.base = reinterpret_cast<void*>(draft.base);
  map.rank = draft.rank;
  map.element_bytes = draft.element_bytes;
  map.swizzle = static_cast<MapSwizzle>(draft.swizzle);
  map.number = static_cast<MapNumber>(draft.number);
  for (unsigned d = 0; d < 5 && d < map.rank; ++d) {
    map.extents[d] = draft.extents[d];
    map.box[d] = draft.box[d];
    if (d > 0) map.pitch_bytes[d - 1] = draft.pitch_bytes[d - 1];
  }
  return encode(map);
}

// tensormap.cp_fenceproxy [global], [shared], 128, by a warp: its lanes come together, and one of
// them copies.
void publish(Frame& frame, const Step& step) {
  model::warp_sync();
  if (engine().current().lane == 0) {
    const SharedAddress from = shared_part(frame, step.addresses[1]);
    const std::uint64_t to = address_of(frame, step.addresses[0]);
    const TensorMap map = engine().refusing([&] { return finished(draft_of(load_map(from))); });
    std::byte bytes[map_bytes];
    std::memcpy(bytes, &map, map_bytes);
    for (unsigned i = 0; i < map_bytes; i += piece_bytes) {
      store_global(to + i, bytes + i, piece_bytes);
    }
  }
  model::warp_sync();
}

void no_effect(Frame&, const Step&) {}

}  // namespace

void add_map_changes(FormTable& table) {
  const auto add = [&](const std::string& field, Field which, bool is_wide, bool has_place) {
    const std::string form =
        "tensormap.replace.tile." + field + ".shared::cta.b1024." + (is_wide ? "b64" : "b32");
    table.add(form, std::string("A") + (has_place ? "4" : "") + (is_wide ? "8" : "4"),
              is_wide ? replace<std::uint64_t> : replace<std::uint32_t>,
              static_cast<std::uint32_t>(which) | (has_place ? 1u << 8 : 0));
  };
  add("global_address", Field::Address, true, false);
  add("rank", Field::Rank, false, false);
  add("box_dim", Field::Box, false, true);
  add("global_dim", Field::Extent, false, true);
  add("global_stride", Field::Stride, true, true);
  add("element_stride", Field::ElementStride, false, true);
  add("elemtype", Field::Type, false, false);
  add("interleave_layout", Field::Interleave, false, false);
  add("swizzle_mode", Field::Swizzle, false, false);
  add("fill_mode", Field::Fill, false, false);
  table.add(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned",
      "AA4", publish);
  table.add("fence.proxy.tensormap::generic.acquire.gpu", "A4", no_effect);
}

}  // namespace tw::vgpu::ptx
