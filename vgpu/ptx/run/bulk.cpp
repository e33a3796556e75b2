// Copies of plain bytes, and those that reduce: of bytes and of tensors.
#include <cmath>
#include <iterator>

#include "vgpu/machine/copy_operation.h"
#include "vgpu/machine/engine.h"
#include "vgpu/ptx/run/change.h"
#include "vgpu/ptx/run/spaces.h"

namespace tw::vgpu::ptx {
namespace {

using namespace change;

template <class T, class Operation>
void reduce_line(std::byte* into, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T known, value;
    std::memcpy(&known, into + at, sizeof(T));
    std::memcpy(&value, from + at, sizeof(T));
    const T joined = Operation::of(known, value);
    std::memcpy(into + at, &joined, sizeof(T));
  }
}

// A number that is none gives way.
struct HalfLeast {
  static double of(double a, double b) { return std::fmin(a, b); }
};
struct HalfMost {
  static double of(double a, double b) { return std::fmax(a, b); }
};

struct Reduction {
  const char* operation;
  const char* type;
  MapNumber number;  // what a tensor's elements are; Unknown: anything of as many bits
  unsigned bytes;
  Reduce reduce;
};
constexpr Reduction reductions[] = {
    {".add", ".u32", MapNumber::Unsigned, 4, reduce_line<std::uint32_t, Add>},
    {".add", ".s32", MapNumber::Signed, 4, reduce_line<std::uint32_t, Add>},
    {".add", ".u64", MapNumber::Unsigned, 8, reduce_line<std::uint64_t, Add>},
    {".add", ".s64", MapNumber::Signed, 8, reduce_line<std::uint64_t, Add>},
    {".add", ".f32", MapNumber::Float, 4, reduce_line<float, Add>},
    {".add", ".f64", MapNumber::Float, 8, reduce_line<double, Add>},
    {".add", ".noftz.f16", MapNumber::Half, 2,
     reduce_line<std::uint16_t, Half<FormatF16, HalfAdd>>},
    {".add", ".noftz.bf16", MapNumber::Bfloat, 2,
     reduce_line<std::uint16_t, Half<FormatBf16, HalfAdd>>},
    {".min", ".u32", MapNumber::Unsigned, 4, reduce_line<std::uint32_t, Least>},
    {".min", ".s32", MapNumber::Signed, 4, reduce_line<std::int32_t, Least>},
    {".min", ".u64", MapNumber::Unsigned, 8, reduce_line<std::uint64_t, Least>},
    {".min", ".s64", MapNumber::Signed, 8, reduce_line<std::int64_t, Least>},
    {".min", ".f16", MapNumber::Half, 2, reduce_line<std::uint16_t, Half<FormatF16, HalfLeast>>},
    {".min", ".bf16", MapNumber::Bfloat, 2,
     reduce_line<std::uint16_t, Half<FormatBf16, HalfLeast>>},
    {".max", ".u32", MapNumber::Unsigned, 4, reduce_line<std::uint32_t, Most>},
    {".max", ".s32", MapNumber::Signed, 4, reduce_line<std::int32_t, Most>},
    {".max", ".u64", MapNumber::Unsigned, 8, reduce_line<std::uint64_t, Most>},
    {".max", ".s64", MapNumber::Signed, 8, reduce_line<std::int64_t, Most>},
    {".max", ".f16", MapNumber::Half, 2, reduce_line<std::uint16_t, Half<FormatF16, HalfMost>>},
    {".max", ".bf16", MapNumber::Bfloat, 2, reduce_line<std::uint16_t, Half<FormatBf16, HalfMost>>},
    {".inc", ".u32", MapNumber::Unsigned, 4, reduce_line<std::uint32_t, Increase>},
    {".dec", ".u32", MapNumber::Unsigned, 4, reduce_line<std::uint32_t, Decrease>},
    {".and", ".b32", MapNumber::Unknown, 4, reduce_line<std::uint32_t, And>},
    {".or", ".b32", MapNumber::Unknown, 4, reduce_line<std::uint32_t, Or>},
    {".xor", ".b32", MapNumber::Unknown, 4, reduce_line<std::uint32_t, Xor>},
    {".and", ".b64", MapNumber::Unknown, 8, reduce_line<std::uint64_t, And>},
    {".or", ".b64", MapNumber::Unknown, 8, reduce_line<std::uint64_t, Or>},
    {".xor", ".b64", MapNumber::Unknown, 8, reduce_line<std::uint64_t, Xor>},
};
constexpr const char* operations[] = {".add", ".min", ".max", ".inc",
                                      ".dec", ".and", ".or",  ".xor"};

void* global_place(const Frame& frame, const Address& address) {
  return reinterpret_cast<void*>(address_of(frame, address));
}
// detail: one more than the number of the reduction; 0: none.
Reduce reduce_in(std::uint32_t detail) {
  return detail == 0 ? nullptr : reductions[detail - 1].reduce;
}

// [to], [from], bytes, [barrier], mask, hint. detail: whether there is a mask.
void load(Frame& frame, const Step& step) {
  model::bulk_load(shared_address_of(frame, step.addresses[0]),
                   global_place(frame, step.addresses[1]), get<std::uint32_t>(frame, step.slots[0]),
                   shared_address_of(frame, step.addresses[2]),
                   step.detail != 0 ? get<std::uint16_t>(frame, step.slots[1]) : std::uint16_t{0});
}
// [to], [from], bytes, hint.
void store(Frame& frame, const Step& step) {
  model::bulk_store(global_place(frame, step.addresses[0]),
                    shared_address_of(frame, step.addresses[1]),
                    get<std::uint32_t>(frame, step.slots[0]), reduce_in(step.detail));
}
// [to], [from], bytes, [barrier].
void copy(Frame& frame, const Step& step) {
  model::bulk_copy(shared_address_of(frame, step.addresses[0]),
                   shared_address_of(frame, step.addresses[1]),
                   get<std::uint32_t>(frame, step.slots[0]),
                   shared_address_of(frame, step.addresses[2]), reduce_in(step.detail));
}

// [map, {coordinates}], [from], hint. detail: the rank, and the operation.
void reduce_tensor(Frame& frame, const Step& step) {
  const unsigned rank = step.detail & 0xff;
  const std::string operation = operations[step.detail >> 8];
  const TensorMap* const packed = tensor_map_at(frame, get<std::uint64_t>(frame, step.slots[0]));
  const TileMap map = engine().refusing([&] { return decode(*packed); });
  int at[5] = {};
  for (unsigned i = 0; i < rank; ++i) at[i] = get<std::int32_t>(frame, step.slots[1 + i]);
  for (const Reduction& known : reductions) {
    const bool fits = known.number == MapNumber::Unknown || known.number == map.number;
    if (operation != known.operation || known.bytes != map.element_bytes || !fits) continue;
    if (map.packed_bits != 0) break;
    return model::tma_reduce(packed, shared_address_of(frame, step.addresses[0]), at, rank,
                             known.reduce);
  }
  stop_incomplete(frame, "reduces elements of a type for which there is no model");
}

void wait_for_groups(Frame& frame, const Step& step) {
  model::bulk_wait_group(get<std::uint32_t>(frame, step.slots[0]));
}

void add_with_hint(FormTable& table, const std::string& form, const std::string& end,
                   const std::string& operands, Execute execute, std::uint32_t detail) {
  table.add(form + end, operands, execute, detail);
  table.add(form + ".L2::cache_hint" + end, operands + "8", execute, detail);
}

}  // namespace

void add_bulk_copies(FormTable& table) {
  const std::string signalled = ".mbarrier::complete_tx::bytes";
  for (const std::string space : {"shared::cluster", "shared::cta"}) {
    const std::string form = "cp.async.bulk." + space + ".global" + signalled;
    add_with_hint(table, form, "", "AA4A", load, 0);
    add_with_hint(table, form + ".multicast::cluster", "", "AA4A2", load, 1);
  }
  add_with_hint(table, "cp.async.bulk.global.shared::cta.bulk_group", "", "AA4", store, 0);
  table.add("cp.async.bulk.shared::cluster.shared::cta" + signalled, "AA4A", copy, 0);
  for (std::uint32_t i = 0; i < std::size(reductions); ++i) {
    const std::string end = std::string(reductions[i].operation) + reductions[i].type;
    add_with_hint(table, "cp.reduce.async.bulk.global.shared::cta.bulk_group", end, "AA4", store,
                  i + 1);
    table.add("cp.reduce.async.bulk.shared::cluster.shared::cta" + signalled + end, "AA4A", copy,
              i + 1);
  }
  for (unsigned rank = 1; rank <= 5; ++rank) {
    const std::string form =
        "cp.reduce.async.bulk.tensor." + std::to_string(rank) + "d.global.shared::cta";
    const std::string operands = "[8{" + std::string(rank, '4') + "}]A";
    for (std::uint32_t i = 0; i < std::size(operations); ++i) {
      for (const std::string tile : {"", ".tile"}) {
        add_with_hint(table, form + operations[i] + tile + ".bulk_group", "", operands,
                      reduce_tensor, rank | i << 8);
      }
    }
  }
  table.add("cp.async.bulk.wait_group", "4", wait_for_groups);
}

}  // namespace tw::vgpu::ptx
