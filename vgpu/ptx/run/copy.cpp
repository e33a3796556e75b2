// Asynchronous copies, by a thread (cp.async) and of tensors (TMA).
#include "tilewright/isa/model/async_copy.h"
#include "tilewright/isa/model/tensor_memory.h"
#include "vgpu/ptx/run/form_table.h"
#include "vgpu/ptx/run/spaces.h"

namespace tw::vgpu::ptx {
namespace {

// cp.async [to], [from], bytes, source_bytes.
template <bool has_source_bytes>
void copy(Frame& frame, const Step& step) {
  const auto bytes = get<std::uint32_t>(frame, step.slots[0]);
  const auto taken = has_source_bytes ? get<std::uint32_t>(frame, step.slots[1]) : bytes;
  model::cp_async(shared_address_of(frame, step.addresses[0]),
                  reinterpret_cast<const void*>(address_of(frame, step.addresses[1])), bytes,
                  taken);
}
void commit_copies(Frame&, const Step&) { model::cp_async_commit_group(); }
void wait_for_copies(Frame& frame, const Step& step) {
  model::cp_async_wait_group(get<std::uint32_t>(frame, step.slots[0]));
}
void wait_for_all_copies(Frame&, const Step&) {
  model::cp_async_commit_group();
  model::cp_async_wait_group(0);
}

// What the form of a tensor copy says.
constexpr std::uint32_t is_multicast = 1 << 8, is_pair = 1 << 9;
unsigned rank_in(std::uint32_t detail) { return detail & 0xff; }

struct Coordinates {
  int values[5];
};
Coordinates coordinates_of(const Frame& frame, const Slot* slots, unsigned rank) {
  Coordinates at{};
  for (unsigned i = 0; i < rank; ++i) at.values[i] = get<std::int32_t>(frame, slots[i]);
  return at;
}

// [to], [map, {coordinates}], [barrier], mask, hint. The hint changes nothing.
void load_tensor(Frame& frame, const Step& step) {
  const unsigned rank = rank_in(step.detail);
  const TensorMap* const map = tensor_map_at(frame, get<std::uint64_t>(frame, step.slots[0]));
  const Coordinates at = coordinates_of(frame, step.slots + 1, rank);
  const std::uint16_t mask = (step.detail & is_multicast) != 0
                                 ? get<std::uint16_t>(frame, step.slots[1 + rank])
                                 : std::uint16_t{0};
  const SharedAddress to = shared_address_of(frame, step.addresses[0]);
  const SharedAddress barrier = shared_address_of(frame, step.addresses[1]);
  const auto load = (step.detail & is_pair) != 0 ? model::tma_load_pair : model::tma_load;
  load(to, map, barrier, at.values, rank, mask);
}

// [to], [map, {coordinates}], [barrier], {offsets}, mask, hint.
void load_column(Frame& frame, const Step& step) {
  const unsigned rank = rank_in(step.detail);
  const TensorMap* const map = tensor_map_at(frame, get<std::uint64_t>(frame, step.slots[0]));
  const Coordinates at = coordinates_of(frame, step.slots + 1, rank);
  const Slot* next = step.slots + 1 + rank;
  std::uint16_t offsets[3] = {};
  for (unsigned i = 0; i + 2 < rank; ++i) offsets[i] = get<std::uint16_t>(frame, *next++);
  const std::uint16_t mask =
      (step.detail & is_multicast) != 0 ? get<std::uint16_t>(frame, *next) : std::uint16_t{0};
  model::tma_load_im2col(shared_address_of(frame, step.addresses[0]), map,
                         shared_address_of(frame, step.addresses[1]), at.values, offsets, rank,
                         mask);
}

// [map, {coordinates}]: only whether there is a map matters.
void prefetch_tensor(Frame& frame, const Step& step) {
  model::tma_prefetch_map(tensor_map_at(frame, get<std::uint64_t>(frame, step.slots[0])));
}
void prefetch_bytes(Frame&, const Step&) {}

// [map, {coordinates}], [from].
void store_tensor(Frame& frame, const Step& step) {
  const unsigned rank = rank_in(step.detail);
  const TensorMap* const map = tensor_map_at(frame, get<std::uint64_t>(frame, step.slots[0]));
  const Coordinates at = coordinates_of(frame, step.slots + 1, rank);
  model::tma_store(map, shared_address_of(frame, step.addresses[0]), at.values, rank);
}

void prefetch_map(Frame& frame, const Step& step) {
  model::tma_prefetch_map(tensor_map_at(frame, address_of(frame, step.addresses[0])));
}
void commit_stores(Frame&, const Step&) { model::bulk_commit_group(); }
void wait_for_reads(Frame& frame, const Step& step) {
  model::bulk_wait_group_read(get<std::uint32_t>(frame, step.slots[0]));
}

void add_columns(FormTable& table, unsigned rank) {
  const std::string begin = "cp.async.bulk.tensor." + std::to_string(rank) + "d.";
  const std::string map = "[8{" + std::string(rank, '4') + "}]";
  const std::string offsets = "{" + std::string(rank - 2, '2') + "}";
  for (const std::string space : {"shared::cluster", "shared::cta"}) {
    for (const bool multicast : {false, true}) {
      const std::string form = begin + space + ".global.im2col.mbarrier::complete_tx::bytes" +
                               (multicast ? ".multicast::cluster" : "");
      const std::string operands = "A" + map + "A" + offsets + (multicast ? "2" : "");
      const std::uint32_t detail = rank | (multicast ? is_multicast : 0);
      table.add(form, operands, load_column, detail);
      table.add(form + ".L2::cache_hint", operands + "8", load_column, detail);
    }
  }
}

void add_tensor_copies(FormTable& table, unsigned rank) {
  const std::string begin = "cp.async.bulk.tensor." + std::to_string(rank) + "d.";
  const std::string map = "[8{" + std::string(rank, '4') + "}]";
  for (const std::string tile : {"", ".tile"}) {
    const std::string form =
        "cp.async.bulk.prefetch.tensor." + std::to_string(rank) + "d.L2.global" + tile;
    table.add(form, map, prefetch_tensor);
    table.add(form + ".L2::cache_hint", map + "8", prefetch_tensor);
  }
  for (const std::string tile : {"", ".tile"}) {
    table.add(begin + "global.shared::cta" + tile + ".bulk_group", map + "A", store_tensor, rank);
    table.add(begin + "global.shared::cta" + tile + ".bulk_group.L2::cache_hint", map + "A8",
              store_tensor, rank);
    for (const std::string space : {"shared::cluster", "shared::cta"}) {
      for (const bool multicast : {false, true}) {
        for (const bool pair : {false, true}) {
          const std::string form =
              begin + space + ".global" + tile + ".mbarrier::complete_tx::bytes" +
              (multicast ? ".multicast::cluster" : "") + (pair ? ".cta_group::2" : "");
          const std::uint32_t detail = rank | (multicast ? is_multicast : 0) | (pair ? is_pair : 0);
          const std::string operands = "A" + map + "A" + (multicast ? "2" : "");
          table.add(form, operands, load_tensor, detail);
          table.add(form + ".L2::cache_hint", operands + "8", load_tensor, detail);
        }
      }
    }
  }
}

}  // namespace

void add_copies(FormTable& table) {
  for (const std::string cache : {"ca", "cg"}) {
    for (const std::string space : {"shared", "shared::cta"}) {
      for (const std::string hint : {"", ".L2::64B", ".L2::128B", ".L2::256B"}) {
        const std::string form = "cp.async." + cache + "." + space + ".global" + hint;
        table.add(form, "AA4", copy<false>);
        table.add(form, "AA44", copy<true>);
      }
    }
  }
  table.add("cp.async.commit_group", "", commit_copies);
  table.add("cp.async.wait_group", "4", wait_for_copies);
  table.add("cp.async.wait_all", "", wait_for_all_copies);
  for (unsigned rank = 1; rank <= 5; ++rank) add_tensor_copies(table, rank);
  for (unsigned rank = 3; rank <= 5; ++rank) add_columns(table, rank);
  table.add("cp.async.bulk.prefetch.L2.global", "A4", prefetch_bytes);
  table.add("cp.async.bulk.prefetch.L2.global.L2::cache_hint", "A48", prefetch_bytes);
  table.add("prefetch.tensormap", "A", prefetch_map);
  table.add("cp.async.bulk.commit_group", "", commit_stores);
  table.add("cp.async.bulk.wait_group.read", "4", wait_for_reads);
}

}  // namespace tw::vgpu::ptx
