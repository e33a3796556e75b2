#include "vgpu/ptx/run/special.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "vgpu/machine/engine.h"
#include "vgpu/ptx/run/spaces.h"

namespace tw::vgpu::ptx {
namespace {

unsigned component(const Extent& extent, char axis) {
  return axis == 'x' ? extent.x : axis == 'y' ? extent.y : axis == 'z' ? extent.z : 0;
}
// Where a number lies in an extent, x first.
Extent position(std::uint64_t index, const Extent& extent) {
  return {static_cast<unsigned>(index % extent.x),
          static_cast<unsigned>(index / extent.x % extent.y),
          static_cast<unsigned>(index / extent.x / extent.y)};
}

}  // namespace

Extent position_of(const Request& request, unsigned cta) {
  const Extent& cluster = request.cluster;
  const Extent clusters{request.grid.x / cluster.x, request.grid.y / cluster.y,
                        request.grid.z / cluster.z};
  const Extent among = position(cta / cluster.count(), clusters);
  const Extent within = position(cta % cluster.count(), cluster);
  return {among.x * cluster.x + within.x, among.y * cluster.y + within.y,
          among.z * cluster.z + within.z};
}

namespace {

std::optional<std::uint32_t> value_of(std::string_view name, const Request& request,
                                      const Thread* thread) {
  // Without a thread only whether there is a value is asked.
  const unsigned index = thread == nullptr ? 0 : thread->index;
  const unsigned lane = thread == nullptr ? 0 : thread->lane;
  const unsigned rank = thread == nullptr ? 0 : thread->cta->rank;
  const std::string_view alone = name.substr(0, name.find('.'));
  const char axis = alone.size() == name.size() ? 'x' : name.back();
  const Extent& cluster = request.cluster;
  const auto cluster_size = static_cast<unsigned>(cluster.count());
  const Extent clusters{request.grid.x / cluster.x, request.grid.y / cluster.y,
                        request.grid.z / cluster.z};
  const Extent at = position_of(request, thread == nullptr ? 0 : thread->cta->index);
  const Extent within = position(rank, cluster);
  if (alone == "%tid") return component(position(index, request.block), axis);
  if (alone == "%ntid") return component(request.block, axis);
  if (alone == "%ctaid") return component(at, axis);
  if (alone == "%nctaid") return component(request.grid, axis);
  if (alone == "%clusterid")
    return component({at.x / cluster.x, at.y / cluster.y, at.z / cluster.z}, axis);
  if (alone == "%nclusterid") return component(clusters, axis);
  if (alone == "%cluster_ctaid") return component(within, axis);
  if (alone == "%cluster_nctaid") return component(cluster, axis);
  if (alone == "%cluster_ctarank") return rank;
  if (alone == "%cluster_nctarank") return cluster_size;
  if (alone == "%is_explicit_cluster") return cluster_size > 1 ? 1 : 0;
  if (alone == "%laneid") return lane;
  if (alone == "%warpid") return index / 32;
  if (alone == "%nwarpid") return static_cast<unsigned>((request.block.count() + 31) / 32);
  if (alone == "WARP_SZ") return 32;
  if (alone == "%dynamic_smem_size") return static_cast<std::uint32_t>(request.dynamic_shared);
  if (alone == "%lanemask_eq") return 1u << lane;
  if (alone == "%lanemask_lt") return (1u << lane) - 1;
  if (alone == "%lanemask_le") return ((1u << lane) - 1) | 1u << lane;
  if (alone == "%lanemask_gt") return ~(((1u << lane) - 1) | 1u << lane);
  if (alone == "%lanemask_ge") return ~((1u << lane) - 1);
  return std::nullopt;
}

std::uint64_t address_in(const Variable& variable, const Placed& placed, bool is_parameter,
                         const Frame& frame, const Thread& thread) {
  if (is_parameter) return parameter_begin + placed.offset;
  switch (variable.space) {
    case Space::Shared:
      return thread.cta->rank << window_rank_shift | (window_begin + placed.offset);
    case Space::Local:
    case Space::Parameter: return local_begin + frame.local_base + placed.offset;
    case Space::Global:
    case Space::Constant: break;
  }
  return reinterpret_cast<std::uintptr_t>(frame.running->loaded) + placed.offset;
}

}  // namespace

void fill(Frame& frame, const Thread& thread) {
  const Running& running = *frame.running;
  const Code& code = *running.code;
  const Body& body = *frame.body;
  for (const Filled& filled : body.filled) {
    const Operand& what = filled.what;
    std::uint64_t value = 0;
    if (what.kind == Operand::Special) {
      value = value_of(what.name, *running.request, &thread).value_or(0);
    } else if (what.kind == Operand::Global) {
      value = address_in(code.module->variables[what.index], code.placed_globally[what.index],
                         false, frame, thread);
    } else {
      const Function& function = *body.function;
      value = address_in(function.variables[what.index], body.placed[what.index],
                         function.is_entry && what.index < function.parameters, frame, thread);
    }
    put<std::uint64_t>(frame, filled.slot, value + static_cast<std::uint64_t>(what.value));
  }
}

Status check_specials(const Code& code) {
  for (const auto& body : code.bodies) {
    if (body == nullptr) continue;
    for (const Filled& filled : body->filled) {
      if (filled.what.kind != Operand::Special) continue;
      if (value_of(filled.what.name, Request{}, nullptr).has_value()) continue;
      return Status::refused(fmt::format("Line {} asks for {}, which has no model.",
                                         filled.what.place.line, filled.what.name));
    }
  }
  return Status::good();
}

}  // namespace tw::vgpu::ptx
