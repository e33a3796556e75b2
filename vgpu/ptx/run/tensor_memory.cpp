// Blackwell's tensor memory, its products, and cluster launch control.
#include "tilewright/isa/model/tensor_memory.h"

#include "tilewright/isa/model/launch_control.h"
#include "tilewright/isa/model/scaled_products.h"
#include "vgpu/machine/engine.h"
#include "vgpu/machine/tensor_state.h"
#include "vgpu/ptx/run/form_table.h"
#include "vgpu/ptx/run/special.h"

namespace tw::vgpu::ptx {
namespace {

// detail: the CTAs of a group, and what the form says beside.
constexpr std::uint32_t detail_of(unsigned group, unsigned more = 0) { return group | more << 8; }
unsigned group_in(std::uint32_t detail) { return detail & 0xff; }
unsigned more_in(std::uint32_t detail) { return detail >> 8; }

TensorAddress tensor_address(const Frame& frame, const Address& address) {
  return static_cast<TensorAddress>(address_of(frame, address));
}

void allocate(Frame& frame, const Step& step) {
  model::tcgen05_alloc(shared_address_of(frame, step.addresses[0]),
                       get<std::uint32_t>(frame, step.slots[0]), group_in(step.detail));
}
void free(Frame& frame, const Step& step) {
  model::tcgen05_dealloc(get<std::uint32_t>(frame, step.slots[0]),
                         get<std::uint32_t>(frame, step.slots[1]), group_in(step.detail));
}
void relinquish(Frame&, const Step& step) {
  model::tcgen05_relinquish_alloc_permit(group_in(step.detail));
}

// [d], a, b, instruction, accumulate.
void multiply(Frame& frame, const Step& step) {
  model::tcgen05_mma(static_cast<MmaKind>(more_in(step.detail)), group_in(step.detail),
                     tensor_address(frame, step.addresses[0]),
                     get<std::uint64_t>(frame, step.slots[0]),
                     get<std::uint64_t>(frame, step.slots[1]),
                     get<std::uint32_t>(frame, step.slots[2]), get_predicate(frame, step.slots[3]));
}
// A mask of lanes that are not written.
LanesLeftOut lanes_left_out(const Frame& frame, const Slot* slots, unsigned words) {
  LanesLeftOut lanes = {};
  for (unsigned i = 0; i < words; ++i) lanes[i] = get<std::uint32_t>(frame, slots[i]);
  return lanes;
}
// [d], [a], b, instruction, accumulate: A in tensor memory. detail: the kind, and words of a mask
// of lanes that are not written.
void multiply_tensor_a(Frame& frame, const Step& step) {
  const unsigned words = group_in(step.detail);
  model::tcgen05_mma_tensor_a(
      static_cast<MmaKind>(more_in(step.detail)), tensor_address(frame, step.addresses[0]),
      tensor_address(frame, step.addresses[1]), get<std::uint64_t>(frame, step.slots[0]),
      get<std::uint32_t>(frame, step.slots[1]), get_predicate(frame, step.slots[2 + words]),
      lanes_left_out(frame, step.slots + 2, words));
}
void multiply_masked(Frame& frame, const Step& step) {
  const unsigned words = 4 * group_in(step.detail);
  model::tcgen05_mma_masked(
      static_cast<MmaKind>(more_in(step.detail)), group_in(step.detail),
      tensor_address(frame, step.addresses[0]), get<std::uint64_t>(frame, step.slots[0]),
      get<std::uint64_t>(frame, step.slots[1]), get<std::uint32_t>(frame, step.slots[2]),
      get_predicate(frame, step.slots[3 + words]), lanes_left_out(frame, step.slots + 3, words));
}
// [d], a, b, instruction, [a_scales], [b_scales], accumulate.
void multiply_scaled(Frame& frame, const Step& step) {
  model::tcgen05_mma_scaled(
      static_cast<ScaledMmaKind>(more_in(step.detail)), group_in(step.detail),
      tensor_address(frame, step.addresses[0]), get<std::uint64_t>(frame, step.slots[0]),
      get<std::uint64_t>(frame, step.slots[1]), get<std::uint32_t>(frame, step.slots[2]),
      tensor_address(frame, step.addresses[1]), tensor_address(frame, step.addresses[2]),
      get_predicate(frame, step.slots[3]));
}
void copy(Frame& frame, const Step& step) {
  model::tcgen05_cp(static_cast<TensorCopy>(more_in(step.detail)), group_in(step.detail),
                    tensor_address(frame, step.addresses[0]),
                    get<std::uint64_t>(frame, step.slots[0]));
}
void commit(Frame& frame, const Step& step) {
  model::tcgen05_commit(group_in(step.detail), shared_address_of(frame, step.addresses[0]), 0);
}
void commit_multicast(Frame& frame, const Step& step) {
  model::tcgen05_commit(group_in(step.detail), shared_address_of(frame, step.addresses[0]),
                        get<std::uint16_t>(frame, step.slots[0]));
}

// detail: the shape, and how many registers. They stand together, for they are written when the
// load lands.
TensorAccessShape shape_in(std::uint32_t detail) {
  return static_cast<TensorAccessShape>(detail >> 16);
}
void load(Frame& frame, const Step& step) {
  model::tcgen05_load_shaped(frame.words + step.slots[0], step.detail & 0xffff,
                             tensor_address(frame, step.addresses[0]), shape_in(step.detail));
}
void store(Frame& frame, const Step& step) {
  const unsigned count = step.detail & 0xffff;
  std::uint32_t values[128];
  for (unsigned i = 0; i < count; ++i) values[i] = get<std::uint32_t>(frame, step.slots[i]);
  model::tcgen05_store_shaped(tensor_address(frame, step.addresses[0]), values, count,
                              shape_in(step.detail));
}

// 16x32bx2: where the upper lanes begin stands behind the address. It is where the lower ones end.
void check_split(const Frame& frame, const Step& step, Slot slot) {
  if (get<std::uint32_t>(frame, slot) != (step.detail & 0xffff)) {
    stop_incomplete(frame, "leaves columns between its halves, which has no model yet");
  }
}
void load_halves(Frame& frame, const Step& step) {
  check_split(frame, step, step.slots[step.detail & 0xffff]);
  load(frame, step);
}
void store_halves(Frame& frame, const Step& step) {
  check_split(frame, step, step.slots[0]);
  Step behind = step;
  ++behind.slots;
  store(frame, behind);
}

template <void (*instruction)()>
void alone(Frame&, const Step&) {
  instruction();
}

// Launch control. detail: whether the response goes to all CTAs of the cluster.
void try_cancel(Frame& frame, const Step& step) {
  model::try_cancel(shared_address_of(frame, step.addresses[0]),
                    shared_address_of(frame, step.addresses[1]), step.detail != 0);
}
void query_is_canceled(Frame& frame, const Step& step) {
  const bool taken = model::query_is_canceled(get<CancelResponse>(frame, step.slots[1]));
  if (!taken) engine().current().cta->cancel_failed = true;
  put_predicate(frame, step.slots[0], taken);
}
// detail: which coordinate, or 3: all, and a word that says nothing.
void query_first_cta(Frame& frame, const Step& step) {
  const unsigned wanted = step.detail, count = wanted == 3 ? 4 : 1;
  const unsigned index = model::query_first_cta_x(get<CancelResponse>(frame, step.slots[count]));
  const Extent at = position_of(*frame.running->request, index);
  const std::uint32_t values[4] = {at.x, at.y, at.z, 0};
  for (unsigned i = 0; i < count; ++i) {
    put<std::uint32_t>(frame, step.slots[i], values[wanted == 3 ? i : wanted]);
  }
}

struct Kind {
  const char* name;
  unsigned kind;
};
constexpr Kind kinds[] = {{"f16", static_cast<unsigned>(MmaKind::F16)},
                          {"tf32", static_cast<unsigned>(MmaKind::Tf32)},
                          {"f8f6f4", static_cast<unsigned>(MmaKind::F8F6F4)},
                          {"i8", static_cast<unsigned>(MmaKind::I8)}};
constexpr Kind scaled_kinds[] = {
    {"mxf8f6f4.block_scale.block32", static_cast<unsigned>(ScaledMmaKind::Mxf8f6f4)},
    {"mxf4.block_scale.block32", static_cast<unsigned>(ScaledMmaKind::Mxf4)},
    {"mxf4nvf4.block_scale.block16", static_cast<unsigned>(ScaledMmaKind::Mxf4nvf4)}};

void add_group(FormTable& table, unsigned group) {
  const std::string of = ".cta_group::" + std::to_string(group);
  const std::uint32_t detail = detail_of(group);
  table.add("tcgen05.alloc" + of + ".sync.aligned.shared::cta.b32", "A4", allocate, detail);
  table.add("tcgen05.dealloc" + of + ".sync.aligned.b32", "44", free, detail);
  table.add("tcgen05.relinquish_alloc_permit" + of + ".sync.aligned", "", relinquish, detail);
  for (const Kind& kind : kinds) {
    table.add("tcgen05.mma" + of + ".kind::" + kind.name, "A8841", multiply,
              detail_of(group, kind.kind));
    table.add("tcgen05.mma" + of + ".kind::" + kind.name,
              "A884{" + std::string(4 * group, '4') + "}1", multiply_masked,
              detail_of(group, kind.kind));
  }
  for (const Kind& kind : kinds) {
    if (group != 1) break;
    const std::string form = "tcgen05.mma" + of + ".kind::" + kind.name;
    table.add(form, "AA841", multiply_tensor_a, detail_of(0, kind.kind));
    table.add(form, "AA84{4444}1", multiply_tensor_a, detail_of(4, kind.kind));
  }
  for (const Kind& kind : scaled_kinds) {
    table.add("tcgen05.mma" + of + ".kind::" + kind.name, "A884AA1", multiply_scaled,
              detail_of(group, kind.kind));
  }
  table.add("tcgen05.cp" + of + ".32x128b.warpx4", "A8", copy,
            detail_of(group, static_cast<unsigned>(TensorCopy::Lanes32Bits128Times4)));
  table.add("tcgen05.cp" + of + ".128x256b", "A8", copy,
            detail_of(group, static_cast<unsigned>(TensorCopy::Lanes128Bits256)));
  const std::string arrival = "tcgen05.commit" + of + ".mbarrier::arrive::one.shared::cluster";
  table.add(arrival + ".b64", "A", commit, detail);
  table.add(arrival + ".multicast::cluster.b64", "A2", commit_multicast, detail);
}

void add_accesses(FormTable& table, const std::string& name, TensorAccessShape shape,
                  unsigned words) {
  for (unsigned times = 1; times * words <= 128; times *= 2) {
    const unsigned count = times * words;
    const std::string end = ".sync.aligned." + name + ".x" + std::to_string(times) + ".b32";
    const std::string registers = "{" + std::string(count, '4') + "}";
    const std::uint32_t detail = count | static_cast<std::uint32_t>(shape) << 16;
    table.add("tcgen05.ld" + end, registers + "A", load, detail);
    table.add("tcgen05.st" + end, "A" + registers, store, detail);
    if (shape == TensorAccessShape::Lanes32Bits32) {
      const std::uint32_t halves =
          count | static_cast<std::uint32_t>(TensorAccessShape::Lanes32Halves) << 16;
      const std::string middle = ".sync.aligned." + name + ".x" + std::to_string(times);
      table.add("tcgen05.ld" + middle + ".pack::16b.b32", registers + "A", load, halves);
      table.add("tcgen05.st" + middle + ".unpack::16b.b32", "A" + registers, store, halves);
    }
    // One register may stand without braces.
    if (count == 1) {
      table.add("tcgen05.ld" + end, "4A", load, detail);
      table.add("tcgen05.st" + end, "A4", store, detail);
    }
  }
}

void add_twice(FormTable& table) {
  for (unsigned count = 1; count <= 128; count *= 2) {
    const std::string end = ".sync.aligned.16x32bx2.x" + std::to_string(count) + ".b32";
    const std::string registers = "{" + std::string(count, '4') + "}";
    const std::uint32_t detail =
        count | static_cast<std::uint32_t>(TensorAccessShape::Lanes16Bits32Twice) << 16;
    table.add("tcgen05.ld" + end, registers + "A4", load_halves, detail);
    table.add("tcgen05.st" + end, "A4" + registers, store_halves, detail);
  }
}

}  // namespace

void add_tensor_memory(FormTable& table) {
  add_group(table, 1);
  add_group(table, 2);
  add_twice(table);
  add_accesses(table, "32x32b", TensorAccessShape::Lanes32Bits32, 1);
  add_accesses(table, "16x64b", TensorAccessShape::Lanes16Bits64, 1);
  add_accesses(table, "16x128b", TensorAccessShape::Lanes16Bits128, 2);
  add_accesses(table, "16x256b", TensorAccessShape::Lanes16Bits256, 4);
  table.add("tcgen05.wait::ld.sync.aligned", "", alone<model::tcgen05_wait_load>);
  table.add("tcgen05.wait::st.sync.aligned", "", alone<model::tcgen05_wait_store>);
  table.add("tcgen05.fence::before_thread_sync", "",
            alone<model::tcgen05_fence_before_thread_sync>);
  table.add("tcgen05.fence::after_thread_sync", "", alone<model::tcgen05_fence_after_thread_sync>);
  const std::string cancel =
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes";
  table.add(cancel + ".b128", "AA", try_cancel, 0);
  table.add(cancel + ".multicast::cluster::all.b128", "AA", try_cancel, 1);
  table.add("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", "1f", query_is_canceled);
  const std::string first = "clusterlaunchcontrol.query_cancel.get_first_ctaid";
  table.add(first + "::x.b32.b128", "4f", query_first_cta, 0);
  table.add(first + "::y.b32.b128", "4f", query_first_cta, 1);
  table.add(first + "::z.b32.b128", "4f", query_first_cta, 2);
  table.add(first + ".v4.b32.b128", "{4444}f", query_first_cta, 3);
}

}  // namespace tw::vgpu::ptx
