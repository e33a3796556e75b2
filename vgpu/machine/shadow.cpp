#include "vgpu/machine/shadow.h"

#include <algorithm>

#include "vgpu/machine/thread.h"

namespace tw::vgpu {
namespace {

std::uint64_t key_of(const AccessRecord& record) {
  return std::uint64_t{record.slot} << 32 | record.epoch;
}

}  // namespace

Shadow::Shadow(Cta& cta, std::uint32_t shared_bytes)
    : cta_(cta),
      cells_((shared_bytes + cell_bytes - 1) / cell_bytes),
      steps_((shared_bytes + step_line - 1) / step_line, no_step) {}

bool Shadow::follows_write(const Access& access, const AccessRecord& write) const {
  return access.follows_write(write, access.async && is_generic_writer(cta_, write.slot));
}

bool Shadow::may_overwrite(const Access& access, const AccessRecord& read) const {
  return access.fenced_reads ? follows_write(access, read) : access.follows_read(read);
}

bool Shadow::may_cover(const Access& access, const AccessRecord& write) const {
  if (follows_write(access, write)) return true;
  if (access.same_bytes) return is_generic_writer(cta_, write.slot);
  return access.covers_unfenced && access.follows_read(write);
}

// Calls visit(cell index, mask of its bytes).
template <class Visit>
void Shadow::for_each_cell(std::uint32_t offset, std::uint32_t bytes, Visit&& visit) {
  const std::uint32_t end = offset + bytes;
  while (offset < end) {
    const std::uint32_t index = offset / cell_bytes;
    const std::uint32_t cell_end = std::min(end, (index + 1) * cell_bytes);
    const unsigned first = offset % cell_bytes;
    const unsigned last = first + (cell_end - offset);
    visit(index, static_cast<std::uint8_t>((1u << last) - (1u << first)));
    offset = cell_end;
  }
}

void Shadow::report(Engine& machine, const Access& access, Conflict::Kind kind, std::uint32_t index,
                    const AccessRecord& prior) {
  report_conflict(machine, cta_, access, {kind, index * cell_bytes, prior});
}

void Shadow::read(Engine& machine, std::uint32_t offset, std::uint32_t bytes, Access& access) {
  for_each_cell(offset, bytes, [&](std::uint32_t index, std::uint8_t mask) {
    read_cell(machine, index, mask, access);
  });
}

void Shadow::write(Engine& machine, std::uint32_t offset, std::uint32_t bytes, Access& access) {
  for_each_cell(offset, bytes, [&](std::uint32_t index, std::uint8_t mask) {
    write_cell(machine, index, mask, access);
  });
}

void Shadow::read_cell(Engine& machine, std::uint32_t index, std::uint8_t mask, Access& access) {
  Cell& cell = cells_[index];
  if ((cell.write.flags & mask) != mask) {
    report(machine, access, Conflict::ReadOfNothing, index, cell.write);
    return;
  }
  if ((cell.write.flags & is_barrier) != 0) {
    report(machine, access, Conflict::BarrierTouched, index, cell.write);
    return;
  }
  if ((cell.write.mask & mask) != 0 && key_of(cell.write) != access.ordered_write) {
    if (follows_write(access, cell.write)) {
      access.ordered_write = key_of(cell.write);
    } else {
      report(machine, access, Conflict::ReadAfterWrite, index, cell.write);
    }
  }
  if ((cell.write.flags & has_overflow) != 0) {
    for (const AccessRecord& write : overflow_[index].writes) {
      if ((write.mask & mask) != 0 && !follows_write(access, write)) {
        report(machine, access, Conflict::ReadAfterWrite, index, write);
      }
    }
  }
  const AccessRecord record{access.epoch, access.slot, mask, 0, access.site};
  if (!note_read(cell, record, access)) {
    cell.write.flags |= has_overflow;
    note_overflow_read(index, record);
  }
}

// A read may take the place of one that it supersedes: whatever comes after it comes after both.
bool Shadow::note_read(Cell& cell, const AccessRecord& record, const Access& access) {
  for (AccessRecord& known : cell.reads) {
    if (known.mask != 0 && known.slot == record.slot && known.epoch == record.epoch) {
      known.mask |= record.mask;
      return true;
    }
  }
  for (AccessRecord& known : cell.reads) {
    const bool whole = (known.mask & ~record.mask) == 0;
    if (whole && (known.mask == 0 || known.slot == record.slot || access.follows_read(known))) {
      known = record;
      return true;
    }
  }
  return false;
}

void Shadow::note_overflow_read(std::uint32_t index, const AccessRecord& record) {
  auto& reads = overflow_[index].reads;
  auto place =
      std::lower_bound(reads.begin(), reads.end(), record.slot,
                       [](const AccessRecord& read, Slot slot) { return read.slot < slot; });
  if (place == reads.end() || place->slot != record.slot) {
    reads.insert(place, record);
    return;
  }
  AccessRecord& known = *place;
  const bool whole = (known.mask & ~record.mask) == 0;
  // One epoch for reads of different bytes: the earlier one can miss a bug, never invent one.
  const Epoch epoch = whole ? record.epoch : std::min(known.epoch, record.epoch);
  known = {epoch, record.slot, static_cast<std::uint8_t>(known.mask | record.mask), 0,
           epoch == record.epoch ? record.site : known.site};
}

void Shadow::write_cell(Engine& machine, std::uint32_t index, std::uint8_t mask, Access& access) {
  Cell& cell = cells_[index];
  if ((cell.write.flags & is_barrier) != 0) {
    report(machine, access, Conflict::BarrierTouched, index, cell.write);
    return;
  }
  for (AccessRecord& read : cell.reads) {
    if ((read.mask & mask) != 0 && !may_overwrite(access, read)) {
      report(machine, access, Conflict::WriteAfterRead, index, read);
    }
    read.mask &= static_cast<std::uint8_t>(~mask);
  }
  if ((cell.write.mask & mask) != 0 && key_of(cell.write) != access.ordered_write) {
    if (may_cover(access, cell.write)) {
      access.ordered_write = key_of(cell.write);
    } else {
      report(machine, access, Conflict::WriteAfterWrite, index, cell.write);
    }
  }
  if ((cell.write.flags & has_overflow) != 0) write_overflow(machine, index, mask, access);

  std::uint8_t own_mask = mask;
  const auto left = static_cast<std::uint8_t>(cell.write.mask & ~mask);
  if (left != 0) {
    if (cell.write.slot == access.slot && cell.write.epoch == access.epoch) {
      own_mask |= left;
    } else {
      overflow_[index].writes.push_back(
          {cell.write.epoch, cell.write.slot, left, 0, cell.write.site});
      cell.write.flags |= has_overflow;
    }
  }
  cell.write = {access.epoch, access.slot, own_mask,
                static_cast<std::uint8_t>(cell.write.flags | mask), access.site};
}

void Shadow::write_overflow(Engine& machine, std::uint32_t index, std::uint8_t mask,
                            const Access& access) {
  Overflow& overflow = overflow_[index];
  for (AccessRecord& write : overflow.writes) {
    if ((write.mask & mask) != 0 && !may_cover(access, write)) {
      report(machine, access, Conflict::WriteAfterWrite, index, write);
    }
    write.mask &= static_cast<std::uint8_t>(~mask);
  }
  std::erase_if(overflow.writes, [](const AccessRecord& write) { return write.mask == 0; });
  for (AccessRecord& read : overflow.reads) {
    if ((read.mask & mask) != 0 && !may_overwrite(access, read)) {
      report(machine, access, Conflict::WriteAfterRead, index, read);
    }
    read.mask &= static_cast<std::uint8_t>(~mask);
  }
  std::erase_if(overflow.reads, [](const AccessRecord& read) { return read.mask == 0; });
  if (overflow.writes.empty() && overflow.reads.empty()) {
    cells_[index].write.flags &= static_cast<std::uint8_t>(~has_overflow);
  }
}

void Shadow::mark_barrier(std::uint32_t offset, std::uint32_t bytes) {
  for_each_cell(offset, bytes, [&](std::uint32_t index, std::uint8_t) {
    cells_[index].write.flags |= is_barrier | written_mask;
  });
}

void Shadow::forget(std::uint32_t offset, std::uint32_t bytes, bool written) {
  for_each_cell(offset, bytes, [&](std::uint32_t index, std::uint8_t mask) {
    Cell& cell = cells_[index];
    const auto kept = static_cast<std::uint8_t>(cell.write.flags & written_mask & ~mask);
    cell = {};
    cell.write.flags = static_cast<std::uint8_t>(kept | (written ? mask : 0));
    overflow_.erase(index);
  });
}

void Shadow::set_step(std::uint32_t offset, std::uint32_t bytes, std::uint64_t step) {
  const auto first = steps_.begin() + offset / step_line;
  const auto last = steps_.begin() + (offset + bytes + step_line - 1) / step_line;
  std::fill(first, last, step);
}

}  // namespace tw::vgpu
