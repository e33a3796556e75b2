// wgmma: chains of products of any kind; bf16 with every n, A from shared memory and from
// registers.
#pragma once

#include <utility>

#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/wgmma.h"
#include "tilewright/isa/ptx/wgmma_register.h"

namespace tw::conformance {

enum class Chain {
  Shared,     // A from shared memory, all steps in one group
  Groups,     // one group per step, of which one stays in flight
  Registers,  // A from registers
};

// What a kernel multiplies, as a type: nvcc cannot spell the value.
template <ElementType a, ElementType b, unsigned n, unsigned a_transposed, unsigned b_transposed>
struct Kind {
  static constexpr WgmmaShape shape = {a, b, n, a_transposed, b_transposed};
};
template <unsigned n>
using Bf16Kind = Kind<ElementType::Bf16, ElementType::Bf16, n, 0, 0>;

template <class Kind, Chain chain>
struct Multiply {
  using Params = conformance::Params;
  using Value = WgmmaSum<Kind::shape>;
  static constexpr unsigned threads = 128;
  static constexpr unsigned n = Kind::shape.n;
  static constexpr unsigned count = n / 2;
  static constexpr bool a_in_registers = chain == Chain::Registers;

  // The descriptor of the operand whose image begins at `begin`, at a step of k.
  static TW_DEVICE std::uint64_t operand(const Products& products, std::uint64_t descriptor,
                                         unsigned begin, unsigned tile_bytes, unsigned step_bytes,
                                         unsigned step) {
    const unsigned tile = step / products.steps_per_tile;
    const unsigned inside = step % products.steps_per_tile * step_bytes;
    return descriptor | shared_at(begin + tile * tile_bytes + inside) >> 4;
  }

  static TW_DEVICE void multiply_shared(Value (&sum)[count], const Products& products) {
    for (unsigned step = 0; step < products.steps; ++step) {
      isa::wgmma_fence();
      isa::wgmma<Kind::shape>(sum,
                              operand(products, products.a_descriptor, 0, products.a_tile_bytes,
                                      products.a_step_bytes, step),
                              operand(products, products.b_descriptor, products.a_bytes,
                                      products.b_tile_bytes, products.b_step_bytes, step),
                              products.accumulate || step > 0);
      if constexpr (chain == Chain::Groups) {
        isa::wgmma_commit_group();
        isa::wgmma_wait_group<1>();
      }
    }
    if constexpr (chain == Chain::Shared) {
      isa::wgmma_fence();  // where the loop is left ptxas would add one, and say so
      isa::wgmma_commit_group();
    }
    isa::wgmma_wait_group<0>();
  }

  // A product owns the registers of A until it is waited for.
  static TW_DEVICE void multiply_registers(float (&sum)[count], const Params& params) {
    const Products& products = params.products;
    for (unsigned step = 0; step < products.steps; ++step) {
      std::uint32_t a[4];
      TW_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        a[i] = get_input(params, (step * 4 + i) * threads + isa::thread_index());
      }
      isa::wgmma_fence();
      isa::wgmma_register<Kind::shape.a, n>(
          sum, a,
          operand(products, products.b_descriptor, 0, products.b_tile_bytes, products.b_step_bytes,
                  step),
          products.accumulate || step > 0);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<0>();
    }
  }

  static TW_DEVICE void run(const Params& params) {
    const Products& products = params.products;
    const unsigned thread = isa::thread_index();
    const unsigned a_words = products.a_bytes / 4;
    const unsigned b_words = products.b_bytes / 4;
    const unsigned skipped = a_in_registers ? a_words : 0;
    fill_shared(threads, 0, a_words + b_words - skipped,
                [&](unsigned word) { return get_input(params, skipped + word); });
    isa::barrier_sync(0, threads);
    Value sum[count];
    const auto* sums = reinterpret_cast<const Value*>(params.input) + a_words + b_words;
    isa::fragment_access(sum, count);
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      sum[i] = load_element<Space::Global>(sums + i * threads + thread);
    }
    if constexpr (a_in_registers) {
      multiply_registers(sum, params);
    } else {
      multiply_shared(sum, products);
    }
    isa::fragment_access(sum, count);
    auto* output = reinterpret_cast<Value*>(params.output);
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      store_element<Space::Global>(output + i * threads + thread, sum[i]);
    }
  }
};

// How an operand lies in shared memory: the fields of its descriptor, and where the next 16 of k
// are. Any placement of random elements is an operand, so the image needs no layout of its own.
struct OperandLayout {
  const char* name;
  std::uint64_t swizzle_bits;  // 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
  unsigned leading_bytes, stride_bytes;
  unsigned row_bytes;  // bytes of a tile's row; 16 of k are 32
};
inline constexpr OperandLayout operand_layouts[] = {
    {"plain", 0, 128, 256, 32},
    {"swizzle_32", 3, 16, 256, 32},
    {"swizzle_64", 2, 16, 512, 64},
    {"swizzle_128", 1, 16, 1024, 128},
};

struct ProductRequest {
  unsigned n;
  bool a_in_registers;
  const OperandLayout& layout;
  unsigned steps;
  bool accumulate;
  Fill operands;
  Fill sums;
};

inline Program product_program(std::string name, Body body, const ProductRequest& request) {
  Program program;
  program.name = std::move(name);
  program.body = body;
  const OperandLayout& layout = request.layout;
  Products& products = program.params.products;
  products.a_descriptor = products.b_descriptor = layout.swizzle_bits << 62 |
                                                  std::uint64_t{layout.stride_bytes / 16} << 32 |
                                                  std::uint64_t{layout.leading_bytes / 16} << 16;
  products.steps = request.steps;
  products.steps_per_tile = layout.row_bytes / 32;
  products.a_step_bytes = products.b_step_bytes = 32;
  // Tiles start where the swizzle does.
  products.a_tile_bytes = 64 * layout.row_bytes;
  products.b_tile_bytes = (request.n * layout.row_bytes + 1023) / 1024 * 1024;
  const unsigned tiles = (request.steps + products.steps_per_tile - 1) / products.steps_per_tile;
  products.a_bytes =
      request.a_in_registers ? request.steps * 128 * 16 : tiles * products.a_tile_bytes;
  products.b_bytes = tiles * products.b_tile_bytes;
  products.accumulate = request.accumulate;
  program.grid.shared_bytes = (request.a_in_registers ? 0 : products.a_bytes) + products.b_bytes;
  program.input = {{request.operands, products.a_bytes + products.b_bytes, 9 + request.n},
                   {request.sums, 64 * request.n * 4, 10 + request.n}};
  program.output_bytes = 64 * request.n * 4;
  program.shape.n = request.n;
  program.is_rounded = request.operands != Fill::Bf16Integers;
  return program;
}

template <int n, bool a_in_registers>
void add_products(std::vector<Program>& programs) {
  constexpr Chain chain = a_in_registers ? Chain::Registers : Chain::Shared;
  const std::string start =
      std::string(a_in_registers ? "wgmma_register" : "wgmma_shared") + "_n" + std::to_string(n);
  const auto add = [&](const std::string& name, Body body, const OperandLayout& layout,
                       unsigned steps, bool accumulate, Fill operands, Fill sums) {
    programs.push_back(product_program(
        start + name, body, {n, a_in_registers, layout, steps, accumulate, operands, sums}));
  };
  const auto add_integers = [&](const std::string& name, Body body, const OperandLayout& layout,
                                unsigned steps, bool accumulate) {
    add(name, body, layout, steps, accumulate, Fill::Bf16Integers, Fill::FloatIntegers);
  };
  const Body body = body_of<Multiply<Bf16Kind<n>, chain>>();
  const OperandLayout& swizzled = operand_layouts[3];
  add_integers("_single", body, swizzled, 1, false);
  add_integers("_add", body, swizzled, 1, true);
  add_integers("_chain", body, swizzled, 6, true);
  if constexpr (n == 8 || n == 64 || n == 256) {
    for (const OperandLayout& layout : operand_layouts) {
      add_integers(std::string("_") + layout.name, body, layout, 4, false);
    }
    if constexpr (!a_in_registers) {
      add_integers("_groups", body_of<Multiply<Bf16Kind<n>, Chain::Groups>>(), swizzled, 6, false);
      // A begins at the first, the second and the third line of a pattern.
      add_integers("_lines", body, swizzled, 3, false);
      Program& lines = programs.back();
      lines.params.products.a_step_bytes = 128;
      lines.params.products.a_bytes += 1024;
      lines.grid.shared_bytes += 1024;
      lines.input[0].bytes += 1024;
    }
    const std::pair<const char*, std::pair<Fill, Fill>> kinds[] = {
        {"_normals", {Fill::Bf16Normals, Fill::FloatNormals}},
        {"_tiny", {Fill::Bf16Tiny, Fill::FloatTiny}},
        {"_huge", {Fill::Bf16Huge, Fill::FloatHuge}},
        {"_special", {Fill::Bf16Special, Fill::FloatSpecial}}};
    for (const auto& [name, fills] : kinds) {
      add(name, body, swizzled, 1, true, fills.first, fills.second);
      add(std::string(name) + "_chain", body, swizzled, 4, false, fills.first, fills.second);
    }
  }
}

template <bool a_in_registers, int first, int... index>
std::vector<Program> list_products_from(std::integer_sequence<int, index...>) {
  std::vector<Program> programs;
  (add_products<first + 8 * index, a_in_registers>(programs), ...);
  return programs;
}

// Every n from `first` to `last`.
template <bool a_in_registers, int first, int last>
std::vector<Program> list_products() {
  return list_products_from<a_in_registers, first>(
      std::make_integer_sequence<int, (last - first) / 8 + 1>());
}

}  // namespace tw::conformance
