// tcgen05.mma, .cp and .commit: one thread issues, the tensor core works in the order of issue.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tilewright/isa/model/scaled_products.h"
#include "vgpu/data/tcgen05_elements.h"
#include "vgpu/machine/mbarrier_model.h"
#include "vgpu/machine/tensor_order.h"

namespace tw::vgpu {
namespace {

using isa::OperandMajor;

constexpr std::uint64_t clocks_per_column_pair = 1;  // 128 x 256 x 32 bytes take 128 clocks
constexpr std::uint64_t clock_picoseconds = 540;     // 1.85 GHz
constexpr std::uint64_t latency_picoseconds = 20'000;

// The CTAs that an instruction of this thread works on: its own, or its pair, the even one first.
struct Group {
  Cta* ctas[2] = {};
  unsigned count = 0;
};

Group group_of(Engine& machine, Thread& thread, unsigned cta_group, const char* instruction) {
  Cta& cta = *thread.cta;
  if (cta_group == 1) return {{&cta, nullptr}, 1};
  auto& ctas = cta.cluster->ctas;
  const unsigned even = cta.rank & ~1u;
  if (even + 1 >= ctas.size() || ctas[cta.rank ^ 1]->exited()) {
    machine.report(Checker::TensorMemoryLife, -1, instruction, [&] {
      return fmt::format("The {} executes {} for two CTAs, but its peer {}.", who(thread),
                         instruction, even + 1 >= ctas.size() ? "does not exist" : "has exited");
    });
    machine.abandon();
  }
  return {{ctas[even].get(), ctas[even + 1].get()}, 2};
}

std::uint32_t shape_of(TensorAddress d, const TensorProduct& product) {
  return (d & 0x3FF) | (tensor_lane(d) != 0 ? 1u << 10 : 0) | product.n << 11 | product.m << 20;
}

std::uint8_t bands_of(const TensorProduct& product, unsigned lane) {
  const bool half = product.rows_per_cta() == 64 && product.parts() == 1;
  return static_cast<std::uint8_t>(half ? 0x55u << lane / band_lanes : 0xFFu);
}

void check_step(Engine& machine, const Thread& thread, const SharedPlace& place) {
  const std::uint64_t found = place.cta->shadow->step_at(place.offset);
  if (thread.step == no_step || found == no_step || thread.step == found) return;
  machine.report(Checker::WrongStep, place_stage(*place.cta, place.offset),
                 place_subject(*place.cta, place.offset), [&] {
                   return fmt::format(
                       "The {} multiplies {} expecting k-tile {}, but k-tile {} was loaded there.",
                       who(thread), place_name(*place.cta, place.offset), thread.step, found);
                 });
}

// A descriptor's address is an offset in the window of whichever CTA it is applied to.
SharedPlace place_in(Engine& machine, Cta& cta, SharedAddress address, const char* instruction) {
  SharedPlace place = machine.resolve(address, 16, instruction);
  place.cta = &cta;
  return place;
}

// What a piece of 16 bytes holds of elements: 4 and 6 bits that are not packed leave some out.
unsigned piece_bytes(const TensorProduct& product, std::uint8_t code) {
  return product.kind == MmaKind::F8F6F4 && !product.packed ? 2 * code_bits(code) : 16;
}

// The 16-byte pieces of an operand may be read now by the products of this thread.
void check_operand(Engine& machine, Thread& thread, Cta& cta, const OperandPlacement& placement,
                   OperandMajor major, unsigned pieces_per_k, unsigned pieces, unsigned step,
                   unsigned bytes, Access& access) {
  for (unsigned piece = 0; piece < pieces; piece += step) {
    const SharedPlace place =
        place_in(machine, cta, operand_piece(placement, major, pieces_per_k, piece), access.what);
    if (cta.shadow == nullptr) continue;
    cta.shadow->read(machine, place.offset, bytes, access);
    check_step(machine, thread, place);
  }
}

void submit(Engine& machine, TensorPipeline& pipeline, TensorOp&& op) {
  pipeline.ops.push_back(std::move(op));
  machine.submit(LandingKind::TensorPipeline, *pipeline.thread->cta->cluster, &pipeline);
}

Access operand_access(Engine& machine, const Thread& thread, const TensorPipeline& pipeline,
                      const char* what) {
  if (!machine.order.enabled()) {
    Access access{};
    access.what = what;
    return access;
  }
  return Order::async(thread, what, pipeline.done, pipeline.issued);
}

TensorAccess tensor_access(const Thread& thread, TensorPipeline& pipeline, const char* what,
                           TensorUse use) {
  TensorAccess access{what, use, false, true};
  access.known = fenced_knowledge(engine(), thread).get();
  access.heard = thread.view.known.get();
  access.pipeline = &pipeline;
  access.in_order = static_cast<bool>(engine().launch.place);
  access.epoch = pipeline.issued;
  return access;
}

void set_in_flight(const TensorRegion& region, int change) {
  for_each_cell(*region.cta->tensor, region, [&](TensorCell& cell, unsigned) {
    cell.in_flight = static_cast<std::uint16_t>(cell.in_flight + change);
  });
}

void check_destination(Engine& machine, const Thread& thread, bool fits, TensorAddress address,
                       const char* instruction) {
  if (fits) return;
  machine.report(Checker::Alignment, -1, instruction, [&] {
    return fmt::format(
        "The {} gives {} the tensor address {:#x}: the lane must be 0 (0 or 16 for 64 rows), and a "
        "copy starts at a multiple of 4 columns.",
        who(thread), instruction, address);
  });
  machine.abandon();
}

// The columns of each CTA where a block-scaled product finds the scales of its rows, and of all
// its columns.
struct ScaleRegions {
  TensorRegion a, b;
};
ScaleRegions scale_regions(const TensorOp& op, Cta& cta) {
  return {{&cta, 0xFF, op.a_scales, op.product.rows_per_cta() / 32},
          {&cta, 0xFF, op.b_scales, (op.product.n + 31) / 32}};
}

// The scales that a product reads now must be there, and of the k-tile that its thread is at.
void check_scales(Engine& machine, const Thread& thread, const TensorOp& op, Cta& cta,
                  TensorAccess access, std::vector<TensorOp::After>* after) {
  access.reads = true;
  access.writes = false;
  access.shape = ~0u;  // no product's: what one has written is no scale
  const ScaleRegions regions = scale_regions(op, cta);
  for (const TensorRegion& region : {regions.a, regions.b}) {
    check_allocated(machine, region, access.what);
    judge(machine, region, access, after);
    if (!machine.order.enabled()) continue;
    const std::uint64_t found = cta.tensor->cell(0, region.column).step;
    if (thread.step == no_step || found == no_step || thread.step == found) continue;
    machine.report(Checker::WrongStep, -1, access.what, [&] {
      return fmt::format(
          "The {} multiplies with the scales in {} expecting k-tile {}, but those "
          "of k-tile {} were copied there.",
          who(thread), tensor_place(cta, region.column), thread.step, found);
    });
  }
}

constexpr unsigned a_columns = 8;  // 32 bytes of k

// A in tensor memory must be there when a product reads it, which is over with a commit.
void check_tensor_a(Engine& machine, const TensorOp& op, Cta& cta, TensorAccess access,
                    std::vector<TensorOp::After>* after) {
  access.reads = true;
  access.writes = false;
  access.shape = ~0u;  // no product's: those write sums
  const TensorRegion region{&cta, bands_of(op.product, 0), op.a_column, a_columns};
  check_allocated(machine, region, access.what);
  judge(machine, region, access, after);
}

// A row's scales: lane row % 32, column row / 32, the bytes from `id` on.
void read_scales(Cta& cta, unsigned column, unsigned rows, unsigned id, unsigned per_row,
                 std::uint8_t (*scales)[4]) {
  for (unsigned row = 0; row < rows; ++row) {
    const std::uint32_t word = *cta.tensor->row(row % 32, column + row / 32);
    for (unsigned i = 0; i < per_row; ++i) {
      scales[row][i] = static_cast<std::uint8_t>(word >> 8 * (id + i));
    }
  }
}

const std::byte* piece_data(Cta& cta, SharedAddress address) {
  return cta.shared.get() + ((address & window_offset_mask) - window_begin);
}

Group group_of_op(const TensorPipeline& pipeline, unsigned cta_group) {
  Cta& cta = *pipeline.thread->cta;
  if (cta_group == 1) return {{&cta, nullptr}, 1};
  auto& ctas = cta.cluster->ctas;
  return {{ctas[cta.rank & ~1u].get(), ctas[cta.rank | 1].get()}, 2};
}

void land_product(const TensorPipeline& pipeline, const TensorOp& op) {
  const TensorProduct& product = op.product;
  const Group group = group_of_op(pipeline, product.cta_group);
  const unsigned rows = product.rows_per_cta(), columns = product.columns_per_cta();
  const unsigned per_piece = 16 / element_bytes(product.kind);
  TensorProductData data;
  // Lanes that are left out are written here, and what is there is read as ever.
  std::vector<std::array<std::uint32_t, 256>> elsewhere;
  elsewhere.reserve(2 * product.m);
  for (unsigned i = 0; i < group.count; ++i) {
    Cta& cta = *group.ctas[i];
    for (unsigned piece = 0; piece < 2 * rows; ++piece) {
      data.a[i][piece] =
          op.a_is_tensor
              ? reinterpret_cast<const std::byte*>(
                    cta.tensor->row(product.lane(piece / 2, 0), op.a_column + 4 * (piece % 2)))
              : piece_data(cta, operand_piece(op.a, product.a_major, rows / per_piece, piece));
    }
    for (unsigned piece = 0; piece < 2 * columns; ++piece) {
      data.b[i][piece] =
          piece_data(cta, operand_piece(op.b, product.b_major, columns / per_piece, piece));
    }
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned part = 0; part < product.parts(); ++part) {
        const unsigned lane = op.lane + product.lane(row, part);
        std::uint32_t* d = cta.tensor->row(lane, op.column);
        if ((op.left_out[4 * i + lane / 32] >> lane % 32 & 1) != 0) {
          std::copy_n(d, product.part_columns(), elsewhere.emplace_back().begin());
          d = elsewhere.back().data();
        }
        data.d[i * rows + row][part] = d;
      }
    }
  }
  const ProductScales& scales = product.scales;
  for (unsigned i = 0; scales.per_row != 0 && i < group.count; ++i) {
    read_scales(*group.ctas[i], op.a_scales, rows, scales.a_id, scales.per_row,
                data.a_scales + i * rows);
    read_scales(*group.ctas[i], op.b_scales, product.n, scales.b_id, scales.per_row,
                data.b_scales[i]);
  }
  if (scales.per_row == 0) {
    multiply(product, data, op.accumulate);
  } else {
    multiply_scaled(product, data, op.accumulate);
  }
  for (unsigned i = 0; i < group.count; ++i) {
    set_in_flight({group.ctas[i], bands_of(product, op.lane), op.column, product.part_columns()},
                  -1);
  }
}

struct CopyShape {
  unsigned rows, pieces_per_row, columns, replicas;
};
CopyShape shape_of(TensorCopy form) {
  return form == TensorCopy::Lanes128Bits256 ? CopyShape{128, 2, 8, 1} : CopyShape{32, 1, 4, 4};
}

void land_copy(const TensorPipeline& pipeline, const TensorOp& op) {
  const CopyShape shape = shape_of(op.form);
  const Group group = group_of_op(pipeline, op.cta_group);
  for (unsigned i = 0; i < group.count; ++i) {
    Cta& cta = *group.ctas[i];
    for (unsigned row = 0; row < shape.rows; ++row) {
      for (unsigned half = 0; half < shape.pieces_per_row; ++half) {
        const std::byte* piece =
            piece_data(cta, operand_piece(op.a, OperandMajor::K, 0, 2 * row + half));
        for (unsigned replica = 0; replica < shape.replicas; ++replica) {
          std::memcpy(cta.tensor->row(row + 32 * replica, op.column + 4 * half), piece, 16);
        }
      }
    }
    set_in_flight({&cta, 0xFF, op.column, shape.columns}, -1);
  }
}

void land_next(Engine& machine, TensorPipeline& pipeline) {
  const TensorOp op = std::move(pipeline.ops.front());
  pipeline.ops.pop_front();
  for (const TensorOp::After& after : op.after) {
    while (after.pipeline->landed < after.epoch) land_next(machine, *after.pipeline);
  }
  switch (op.kind) {
    case TensorOp::Product: land_product(pipeline, op); break;
    case TensorOp::Copy: land_copy(pipeline, op); break;
    case TensorOp::Commit:
      for (Mbarrier* barrier : op.barriers) {
        arrive_for_products(machine, pipeline, *barrier, op.view, op.time);
      }
      return;
  }
  ++pipeline.landed;
}

// `op` has its product, and its scales' columns where it has scales.
void issue_product(Engine& machine, Thread& thread, const Group& group, TensorOp& op,
                   TensorAddress d, std::uint64_t a, std::uint64_t b, bool accumulate) {
  constexpr const char* instruction = "tcgen05.mma";
  op.kind = TensorOp::Product;
  op.accumulate = accumulate;
  if (!op.a_is_tensor) op.a = decode_operand(a);
  op.b = decode_operand(b);
  op.column = tensor_column(d);
  op.lane = tensor_lane(d);
  const TensorProduct& product = op.product;
  const bool half = product.rows_per_cta() == 64 && product.parts() == 1;
  check_destination(machine, thread, op.lane == 0 || (half && op.lane == 16), d, instruction);
  TensorPipeline& pipeline = pipeline_of(machine, thread);
  ++pipeline.issued;
  Access read = operand_access(machine, thread, pipeline, instruction);
  TensorAccess access = tensor_access(thread, pipeline, instruction, TensorUse::Product);
  access.reads = accumulate;
  access.shape = shape_of(d, product);
  const unsigned per_piece = 16 / element_bytes(product.kind);
  const unsigned rows = product.rows_per_cta(), columns = product.columns_per_cta();
  for (unsigned i = 0; i < group.count; ++i) {
    Cta& cta = *group.ctas[i];
    tensor_memory(machine, cta, product.cta_group, instruction);
    const TensorRegion region{&cta, bands_of(product, op.lane), op.column, product.part_columns()};
    check_allocated(machine, region, instruction);
    if (op.a_is_tensor) {
      check_tensor_a(machine, op, cta, access, &op.after);
    } else {
      check_operand(machine, thread, cta, op.a, product.a_major, rows / per_piece, 2 * rows, 1,
                    piece_bytes(product, product.a_code), read);
    }
    check_operand(machine, thread, cta, op.b, product.b_major, columns / per_piece, 2 * columns, 1,
                  piece_bytes(product, product.b_code), read);
    if (product.scales.per_row != 0) {
      check_scales(machine, thread, op, cta, access, &op.after);
    }
    judge(machine, region, access, &op.after);
    set_in_flight(region, 1);
  }
  std::uint64_t& free = thread.cta->multiprocessor->tensor_core_free;
  free = std::max(free, thread.time) + product.n / 2 * clocks_per_column_pair * clock_picoseconds;
  op.time = free + latency_picoseconds;
  submit(machine, pipeline, std::move(op));
}

}  // namespace

void land_tensor_pipeline(Engine& machine, void* operation) {
  auto& pipeline = *static_cast<TensorPipeline*>(operation);
  // Empty: a product of another thread needed this one, and it has landed already.
  if (!pipeline.ops.empty()) land_next(machine, pipeline);
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void tcgen05_mma(MmaKind kind, unsigned cta_group, TensorAddress d, std::uint64_t a,
                 std::uint64_t b, std::uint32_t instruction, bool accumulate) {
  tcgen05_mma_masked(kind, cta_group, d, a, b, instruction, accumulate, {});
}

void tcgen05_mma_masked(MmaKind kind, unsigned cta_group, TensorAddress d, std::uint64_t a,
                        std::uint64_t b, std::uint32_t instruction, bool accumulate,
                        const LanesLeftOut& left_out) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const Group group = group_of(machine, thread, cta_group, "tcgen05.mma");
  machine.refusing([&] {
    TensorOp op;
    op.product = decode_product(kind, cta_group, instruction);
    op.left_out = left_out;
    issue_product(machine, thread, group, op, d, a, b, accumulate);
  });
}

void tcgen05_mma_tensor_a(MmaKind kind, TensorAddress d, TensorAddress a, std::uint64_t b,
                          std::uint32_t instruction, bool accumulate) {
  tcgen05_mma_tensor_a(kind, d, a, b, instruction, accumulate, LanesLeftOut{});
}

void tcgen05_mma_tensor_a(MmaKind kind, TensorAddress d, TensorAddress a, std::uint64_t b,
                          std::uint32_t instruction, bool accumulate,
                          const LanesLeftOut& left_out) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const Group group = group_of(machine, thread, 1, "tcgen05.mma");
  if (tensor_lane(a) != 0) machine.report_exception("tcgen05.mma: A begins at lane 0.");
  machine.refusing([&] {
    TensorOp op;
    op.product = decode_product(kind, 1, instruction);
    op.left_out = left_out;
    op.a_is_tensor = true;
    op.a_column = tensor_column(a);
    issue_product(machine, thread, group, op, d, 0, b, accumulate);
  });
}

void tcgen05_mma_scaled(ScaledMmaKind kind, unsigned cta_group, TensorAddress d, std::uint64_t a,
                        std::uint64_t b, std::uint32_t instruction, TensorAddress a_scales,
                        TensorAddress b_scales, bool accumulate) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const Group group = group_of(machine, thread, cta_group, "tcgen05.mma");
  machine.refusing([&] {
    TensorOp op;
    op.product = decode_scaled_product(kind, cta_group, instruction);
    for (const TensorAddress scales : {a_scales, b_scales}) {
      check_destination(machine, thread, tensor_lane(scales) == 0, scales, "tcgen05.mma");
    }
    op.a_scales = tensor_column(a_scales);
    op.b_scales = tensor_column(b_scales);
    issue_product(machine, thread, group, op, d, a, b, accumulate);
  });
}

void tcgen05_cp(TensorCopy form, unsigned cta_group, TensorAddress destination,
                std::uint64_t source) {
  constexpr const char* instruction = "tcgen05.cp";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const Group group = group_of(machine, thread, cta_group, instruction);
  TensorOp op;
  op.kind = TensorOp::Copy;
  op.form = form;
  op.cta_group = cta_group;
  op.a = machine.refusing([&] { return decode_operand(source); });
  op.column = tensor_column(destination);
  check_destination(machine, thread, tensor_lane(destination) == 0 && op.column % 4 == 0,
                    destination, instruction);
  TensorPipeline& pipeline = pipeline_of(machine, thread);
  ++pipeline.issued;
  Access read = operand_access(machine, thread, pipeline, instruction);
  TensorAccess access = tensor_access(thread, pipeline, instruction, TensorUse::Copy);
  access.step = thread.step;
  const auto shape = vgpu::shape_of(form);
  for (unsigned i = 0; i < group.count; ++i) {
    Cta& cta = *group.ctas[i];
    tensor_memory(machine, cta, cta_group, instruction);
    const TensorRegion region{&cta, 0xFF, op.column, shape.columns};
    check_allocated(machine, region, instruction);
    check_operand(machine, thread, cta, op.a, OperandMajor::K, 0, 2 * shape.rows,
                  2 / shape.pieces_per_row, 16, read);
    judge(machine, region, access, &op.after);
    set_in_flight(region, 1);
  }
  op.time = thread.time + latency_picoseconds;
  submit(machine, pipeline, std::move(op));
}

void tcgen05_commit(unsigned cta_group, SharedAddress barrier, std::uint16_t mask) {
  constexpr const char* instruction = "tcgen05.commit";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  tensor_memory(machine, *thread.cta, cta_group, instruction);
  TensorPipeline& pipeline = pipeline_of(machine, thread);
  const SharedPlace place = machine.resolve(barrier, 8, instruction);
  auto& ctas = thread.cta->cluster->ctas;
  if (mask >> ctas.size() != 0) {
    machine.report(Checker::Bounds, -1, instruction, [&] {
      return fmt::format("The {} commits to the mask {:#b} in a cluster of {} CTAs.", who(thread),
                         mask, ctas.size());
    });
    machine.abandon();
  }
  TensorOp op;
  op.kind = TensorOp::Commit;
  op.time = std::max(thread.time, thread.cta->multiprocessor->tensor_core_free);
  if (machine.order.enabled()) op.view = thread.view;
  if (mask == 0) {
    op.barriers.push_back(&usable_mbarrier(machine, place, BarrierUse::Threads, instruction));
  }
  for (unsigned rank = 0; rank < ctas.size(); ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    op.barriers.push_back(&usable_mbarrier(machine, {ctas[rank].get(), place.offset},
                                           BarrierUse::Threads, instruction));
  }
  submit(machine, pipeline, std::move(op));
}

}  // namespace tw::model
