// Moves between registers, and between a register and its parts.
#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx {
namespace {

template <class T>
void move(Frame& frame, const Step& step) {
  put<T>(frame, step.slots[0], get<T>(frame, step.slots[1]));
}
void move_predicate(Frame& frame, const Step& step) {
  put_predicate(frame, step.slots[0], get_predicate(frame, step.slots[1]));
}

template <class Part, unsigned count>
void pack(Frame& frame, const Step& step) {
  Part parts[count];
  for (unsigned i = 0; i < count; ++i) parts[i] = get<Part>(frame, step.slots[1 + i]);
  std::memcpy(frame.words + step.slots[0], parts, sizeof parts);
}
template <class Part, unsigned count>
void unpack(Frame& frame, const Step& step) {
  Part parts[count];
  std::memcpy(parts, frame.words + step.slots[count], sizeof parts);
  for (unsigned i = 0; i < count; ++i) put<Part>(frame, step.slots[i], parts[i]);
}

template <class Part, unsigned count>
void add_parts(FormTable& table, const std::string& name) {
  const std::string whole = count * sizeof(Part) == 16 ? "f" : std::to_string(count * sizeof(Part));
  std::string parts = "{";
  for (unsigned i = 0; i < count; ++i) parts += letter<Part>();
  parts += "}";
  table.add(name, whole + parts, pack<Part, count>);
  table.add(name, parts + whole, unpack<Part, count>);
}

struct Wide {
  std::uint64_t words[2];
};

}  // namespace

void add_moves(FormTable& table) {
  const auto add = [&](const std::string& type, auto tag) {
    using T = typename decltype(tag)::type;
    table.add("mov" + type, letter<T>() + letter<T>(), move<T>);
  };
  each_integer(add);
  each_bits(add);
  add(".f32", Type<std::uint32_t>());
  add(".f64", Type<std::uint64_t>());
  table.add("mov.b128", "ff", move<Wide>);
  table.add("mov.pred", "11", move_predicate);
  add_parts<std::uint16_t, 2>(table, "mov.b32");
  add_parts<std::uint32_t, 2>(table, "mov.b64");
  add_parts<std::uint16_t, 4>(table, "mov.b64");
  add_parts<std::uint64_t, 2>(table, "mov.b128");
  add_parts<std::uint32_t, 4>(table, "mov.b128");
}

}  // namespace tw::vgpu::ptx
