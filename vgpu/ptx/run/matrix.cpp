// Matrices: between shared memory and registers, and their products on tensor cores.
#include "tilewright/isa/model/warp_matrix.h"
#include "vgpu/data/warp_product.h"
#include "vgpu/machine/warp_collective.h"
#include "vgpu/ptx/run/form_table.h"

namespace tw::vgpu::ptx {
namespace {

constexpr std::uint32_t is_transposed = 1 << 8;

// detail: how many, and whether they are transposed. The lanes behind those that have an address
// for fewer than four matrices give one that nobody uses.
void load_matrices(Frame& frame, const Step& step) {
  const unsigned count = step.detail & 0xff;
  std::uint32_t registers[4];
  model::ldmatrix(registers, shared_address_of(frame, step.addresses[0]), count,
                  (step.detail & is_transposed) != 0);
  for (unsigned i = 0; i < count; ++i) put(frame, step.slots[i], registers[i]);
}

void store_matrices(Frame& frame, const Step& step) {
  const unsigned count = step.detail & 0xff;
  std::uint32_t registers[4] = {};
  for (unsigned i = 0; i < count; ++i) registers[i] = get<std::uint32_t>(frame, step.slots[i]);
  model::stmatrix(shared_address_of(frame, step.addresses[0]), registers, count,
                  (step.detail & is_transposed) != 0);
}

// mma d, a, b, c.
template <MmaType type>
void multiply(Frame& frame, const Step& step) {
  std::uint32_t a[4], b[2], d[4];
  for (unsigned i = 0; i < 4; ++i) a[i] = get<std::uint32_t>(frame, step.slots[4 + i]);
  for (unsigned i = 0; i < 2; ++i) b[i] = get<std::uint32_t>(frame, step.slots[8 + i]);
  for (unsigned i = 0; i < 4; ++i) d[i] = get<std::uint32_t>(frame, step.slots[10 + i]);
  model::mma_sync(type, d, a, b);
  for (unsigned i = 0; i < 4; ++i) put(frame, step.slots[i], d[i]);
}

// The same of other shapes: detail says which.
void multiply_shaped(Frame& frame, const Step& step) {
  const WarpProduct product = WarpProduct::of(step.detail);
  const Slot* next = step.slots + product.d_registers();
  std::uint32_t a[4] = {}, b[2] = {}, d[4] = {};
  for (unsigned i = 0; i < product.a_registers(); ++i) a[i] = get<std::uint32_t>(frame, *next++);
  for (unsigned i = 0; i < product.b_registers(); ++i) b[i] = get<std::uint32_t>(frame, *next++);
  for (unsigned i = 0; i < product.d_registers(); ++i) d[i] = get<std::uint32_t>(frame, *next++);
  model::mma_sync_shaped(step.detail, d, a, b);
  for (unsigned i = 0; i < product.d_registers(); ++i) put(frame, step.slots[i], d[i]);
}

// wgmma: detail has n / 8, the element types, and whether A comes from registers. Its operands: d,
// a, b, whether it accumulates, the signs of a and b, and of 16-bit types how a and b lie.
constexpr std::uint32_t wgmma_detail(unsigned n, ElementType a, ElementType b, bool registers) {
  return n / 8 | static_cast<std::uint32_t>(a) << 8 | static_cast<std::uint32_t>(b) << 16 |
         (registers ? 1u << 24 : 0);
}

bool is_one(const Frame& frame, Slot slot) { return get<std::uint32_t>(frame, slot) == 1; }

void multiply_in_group(Frame& frame, const Step& step) {
  WgmmaShape shape;
  shape.n = 8 * (step.detail & 0xff);
  shape.a = static_cast<ElementType>(step.detail >> 8 & 0xff);
  shape.b = static_cast<ElementType>(step.detail >> 16 & 0xff);
  const bool from_registers = (step.detail >> 24 & 1) != 0;
  const Slot* const d = step.slots;
  const Slot* const a = d + shape.n / 2;
  const Slot* const b = a + (from_registers ? 4 : 1);
  const Slot* next = b + 1;
  const bool accumulate = get_predicate(frame, *next++);
  if (shape.a != ElementType::S8) {
    if (!is_one(frame, next[0]) || !is_one(frame, next[1])) {
      stop_incomplete(frame, "negates a factor, which has no model yet");
    }
    next += 2;
  }
  if (bytes_of(shape.a) == 2) {
    if (!from_registers) shape.a_transposed = get<std::uint32_t>(frame, *next++);
    shape.b_transposed = get<std::uint32_t>(frame, *next++);
  }
  model::wgmma(shape, frame.words + d[0], from_registers ? 0 : get<std::uint64_t>(frame, a[0]),
               from_registers ? frame.words + a[0] : nullptr, get<std::uint64_t>(frame, b[0]),
               accumulate);
}
void fence_products(Frame&, const Step&) { model::wgmma_fence(); }
void commit_products(Frame&, const Step&) { model::wgmma_commit_group(); }
void wait_for_products(Frame& frame, const Step& step) {
  model::wgmma_wait_group(get<std::uint32_t>(frame, step.slots[0]));
}

struct Product {
  const char* types;  // behind the shape
  unsigned k;
  ElementType a, b;
};
constexpr Product products[] = {
    {"f32.bf16.bf16", 16, ElementType::Bf16, ElementType::Bf16},
    {"f32.f16.f16", 16, ElementType::Fp16, ElementType::Fp16},
    {"f32.tf32.tf32", 8, ElementType::Tf32, ElementType::Tf32},
    {"f32.e4m3.e4m3", 32, ElementType::E4m3, ElementType::E4m3},
    {"f32.e4m3.e5m2", 32, ElementType::E4m3, ElementType::E5m2},
    {"f32.e5m2.e4m3", 32, ElementType::E5m2, ElementType::E4m3},
    {"f32.e5m2.e5m2", 32, ElementType::E5m2, ElementType::E5m2},
    {"s32.s8.s8", 32, ElementType::S8, ElementType::S8},
};

void add_products(FormTable& table) {
  for (const Product& product : products) {
    for (unsigned n = 8; n <= 256; n += 8) {
      const std::string form = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" +
                               std::to_string(product.k) + "." + product.types;
      const std::string d = "{" + std::string(n / 2, '4') + "}";
      const std::string signs = product.a == ElementType::S8 ? "" : "44";
      const bool has_majors = bytes_of(product.a) == 2;
      table.add(form, d + "881" + signs + (has_majors ? "44" : ""), multiply_in_group,
                wgmma_detail(n, product.a, product.b, false));
      // The model takes A from registers for these types.
      if (product.a != ElementType::Bf16 && product.a != ElementType::Fp16 &&
          product.types != std::string("f32.e4m3.e4m3")) {
        continue;
      }
      table.add(form, d + "{4444}81" + signs + (has_majors ? "4" : ""), multiply_in_group,
                wgmma_detail(n, product.a, product.b, true));
    }
  }
  table.add("wgmma.fence.sync.aligned", "", fence_products);
  table.add("wgmma.commit_group.sync.aligned", "", commit_products);
  table.add("wgmma.wait_group.sync.aligned", "4", wait_for_products);
}

template <MmaType type>
void add_warp_product(FormTable& table, const std::string& shape) {
  table.add("mma.sync.aligned." + shape, "{4444}{4444}{44}{4444}", multiply<type>);
}

std::string vector_of(unsigned registers) { return "{" + std::string(registers, '4') + "}"; }

void add_shaped(FormTable& table, const WarpProduct& product, const std::string& types,
                const std::string& more = "") {
  const std::string d = vector_of(product.d_registers());
  table.add("mma.sync.aligned.m16n8k" + std::to_string(product.k) + ".row.col" + more + types,
            d + vector_of(product.a_registers()) + vector_of(product.b_registers()) + d,
            multiply_shaped, product.shape());
}

void add_other_warp_products(FormTable& table) {
  using enum MmaElement;
  add_shaped(table, {Bf16, Bf16, 8}, ".f32.bf16.bf16.f32");
  add_shaped(table, {F16, F16, 8}, ".f32.f16.f16.f32");
  add_shaped(table, {Tf32, Tf32, 4}, ".f32.tf32.tf32.f32");
  for (const unsigned k : {8u, 16u}) add_shaped(table, {F16, F16, k, true}, ".f16.f16.f16.f16");
  struct Named {
    MmaElement element;
    const char* name;
  };
  for (const unsigned k : {16u, 32u}) {
    for (const Named& a : {Named{E4m3, ".e4m3"}, Named{E5m2, ".e5m2"}}) {
      for (const Named& b : {Named{E4m3, ".e4m3"}, Named{E5m2, ".e5m2"}}) {
        const std::string types = std::string(a.name) + b.name;
        add_shaped(table, {a.element, b.element, k}, ".f32" + types + ".f32");
        add_shaped(table, {a.element, b.element, k, true}, ".f16" + types + ".f16");
      }
    }
    for (const Named& a : {Named{S8, ".s8"}, Named{U8, ".u8"}}) {
      for (const Named& b : {Named{S8, ".s8"}, Named{U8, ".u8"}}) {
        const std::string types = std::string(".s32") + a.name + b.name + ".s32";
        add_shaped(table, {a.element, b.element, k}, types);
        add_shaped(table, {a.element, b.element, k, false, true}, types, ".satfinite");
      }
    }
  }
}

}  // namespace

void add_matrices(FormTable& table) {
  for (const std::string space : {"", ".shared", ".shared::cta"}) {
    for (const unsigned count : {1u, 2u, 4u}) {
      const std::string times = ".x" + std::to_string(count);
      const std::string registers = "{" + std::string(count, '4') + "}";
      for (const std::string& shape : {".m8n8" + times, times + ".m8n8"}) {
        for (const bool transposed : {false, true}) {
          const std::string end =
              ".sync.aligned" + shape + (transposed ? ".trans" : "") + space + ".b16";
          const std::uint32_t detail = count | (transposed ? is_transposed : 0);
          table.add("ldmatrix" + end, registers + "A", load_matrices, detail);
          table.add("stmatrix" + end, "A" + registers, store_matrices, detail);
        }
      }
    }
  }
  add_warp_product<MmaType::Bf16>(table, "m16n8k16.row.col.f32.bf16.bf16.f32");
  add_warp_product<MmaType::F16>(table, "m16n8k16.row.col.f32.f16.f16.f32");
  add_warp_product<MmaType::Tf32>(table, "m16n8k8.row.col.f32.tf32.tf32.f32");
  add_warp_product<MmaType::S8>(table, "m16n8k32.row.col.s32.s8.s8.s32");
  add_other_warp_products(table);
  add_products(table);
}

}  // namespace tw::vgpu::ptx
