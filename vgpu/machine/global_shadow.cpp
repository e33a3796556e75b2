#include "vgpu/machine/global_shadow.h"

#include <algorithm>
#include <bit>

#include "vgpu/machine/engine.h"

namespace tw::vgpu {

std::uint32_t GlobalActors::number_of(const Access& access) {
  const Thread& thread = *access.thread;
  const unsigned cluster = thread.cta->cluster->index();
  const std::uint64_t key = (std::uint64_t{cluster} + 1) << 16 | access.slot;
  Recent& recent = recent_[(key ^ key >> 16) % std::size(recent_)];
  if (recent.key == key) return recent.number;
  const auto [known, is_new] =
      numbers_.try_emplace(key, static_cast<std::uint32_t>(actors_.size()));
  if (is_new) {
    const bool by_thread = access.slot == thread.view.self;
    actors_.push_back({cluster, access.slot, !access.async, by_thread ? nullptr : access.what,
                       thread.role, thread.index, thread.cta->index});
  }
  recent = {key, known->second};
  return known->second;
}

GlobalShadow::GlobalShadow(const void* begin, std::size_t bytes, const char* name)
    : begin_(static_cast<const std::byte*>(begin)),
      name_(name),
      pages_(bytes / (page_cells * cell_bytes) + 1) {}

GlobalShadow::Cell& GlobalShadow::cell_at(std::size_t index) {
  auto& page = pages_[index / page_cells];
  if (page == nullptr) page = std::make_unique<Cell[]>(page_cells);
  return page[index % page_cells];
}

void GlobalShadow::touch(Engine& machine, const void* begin, std::uint32_t bytes, const void* value,
                         GlobalAccess& access) {
  if (access.actor == 0) access.actor = machine.actors.number_of(access.access);
  const auto* from = static_cast<const std::byte*>(value);
  auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(begin) - begin_);
  const std::size_t end = offset + bytes;
  GlobalConflict conflict;
  while (offset < end) {
    const std::size_t index = offset / cell_bytes;
    const std::size_t cell_end = std::min(end, (index + 1) * cell_bytes);
    const std::size_t first = offset % cell_bytes;
    const std::size_t last = first + (cell_end - offset);
    touch_cell(machine, index, (1u << last) - (1u << first), from, access, conflict);
    if (from != nullptr) from += cell_end - offset;
    offset = cell_end;
  }
  if (conflict.prior.mask != 0) {
    report_global_race(machine, name_, access, value != nullptr, conflict);
  }
}

template <class Visit>
void GlobalShadow::for_each_record(std::size_t index, Cell& cell, Visit&& visit) {
  for (GlobalRecord& record : cell.records) visit(record);
  if (cell.records[0].has_more == 0) return;
  auto& elsewhere = elsewhere_[index];
  for (GlobalRecord& record : elsewhere) visit(record);
  std::erase_if(elsewhere, [](const GlobalRecord& record) { return record.mask == 0; });
  cell.records[0].has_more = !elsewhere.empty();
}

// The value, which begins at the first byte of `mask`, is another than what these bytes hold.
bool GlobalShadow::differs(std::size_t index, unsigned bytes, unsigned mask,
                           const std::byte* value) const {
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  for (unsigned byte = first; byte < cell_bytes; ++byte) {
    if ((bytes >> byte & 1) != 0 && begin_[index * cell_bytes + byte] != value[byte - first]) {
      return true;
    }
  }
  return false;
}

void GlobalShadow::touch_cell(Engine& machine, std::size_t index, unsigned mask,
                              const std::byte* value, GlobalAccess& access,
                              GlobalConflict& conflict) {
  const bool writes = value != nullptr;
  Cell& cell = cell_at(index);
  for_each_record(index, cell, [&](GlobalRecord& known) {
    const unsigned common = known.mask & mask;
    if (common == 0) return;
    const bool both_read = known.writes == 0 && !writes;
    const bool is_first = comes_first(machine, access, known);
    // Later reads of one agent are over when earlier ones are.
    if (both_read && !is_first && known.actor != access.actor) return;
    if (!both_read && !is_first) {
      if (known.atomic != 0 && access.atomic) return;
      // Tiles at an edge reach back and store rows again: whoever comes next must follow both.
      // What an atomic operation will write, nobody knows yet.
      const bool is_known = !access.atomic;
      if (known.writes != 0 && writes && is_known && !differs(index, common, mask, value)) return;
      const std::size_t place = index * cell_bytes;
      if (conflict.prior.mask == 0) {
        conflict = {known, place + static_cast<unsigned>(std::countr_zero(common)), 0};
      }
      conflict.last = place + static_cast<unsigned>(std::bit_width(common)) - 1;
    }
    // Whatever comes after this access comes after the known one.
    if (writes || both_read) known.mask &= ~mask;
  });
  note(index, cell,
       {access.access.epoch, access.actor, writes, access.atomic, 0, mask, access.access.site});
}

void GlobalShadow::note(std::size_t index, Cell& cell, const GlobalRecord& record) {
  GlobalRecord* place = nullptr;
  for (GlobalRecord& known : cell.records) {
    if (known.mask == 0) {
      if (place == nullptr) place = &known;
    } else if (known.actor == record.actor && known.epoch == record.epoch &&
               known.writes == record.writes && known.atomic == record.atomic) {
      known.mask |= record.mask;
      return;
    }
  }
  if (place != nullptr) {
    const std::uint32_t has_more = place->has_more;
    *place = record;
    place->has_more = has_more;
    return;
  }
  auto& elsewhere = elsewhere_[index];
  // Forgetting one can miss a race, and never invents one.
  if (elsewhere.size() == most_elsewhere) elsewhere.erase(elsewhere.begin());
  elsewhere.push_back(record);
  cell.records[0].has_more = 1;
}

}  // namespace tw::vgpu
