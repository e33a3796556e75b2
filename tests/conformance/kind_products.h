// wgmma of other types than bf16, also with A from registers, and of operands along m or n: few n,
// chains of products.
#pragma once

#include "tests/conformance/products.h"

namespace tw::conformance {

// What the elements of an operand are, and the accumulators beside them.
struct KindFills {
  const char* name;
  Fill a, b, sums;
};

inline Program kind_program(const WgmmaShape& shape, Body body, const KindFills& fills,
                            unsigned steps, bool accumulate, bool a_in_registers) {
  constexpr unsigned box_bytes = 64 * 128;  // MN-major: 64 elements by 64 k
  const auto descriptor = [](unsigned transposed) {
    const unsigned leading_bytes = transposed != 0 ? box_bytes : 16;
    return std::uint64_t{1} << 62 | std::uint64_t{1024 / 16} << 32 |
           std::uint64_t{leading_bytes / 16} << 16;
  };
  const auto step_bytes = [](unsigned transposed) { return transposed != 0 ? 16 * 128u : 32u; };
  Program program;
  program.body = body;
  program.shape = shape;
  Products& products = program.params.products;
  products.a_descriptor = descriptor(shape.a_transposed);
  products.b_descriptor = descriptor(shape.b_transposed);
  products.steps = steps;
  products.steps_per_tile = 4;
  products.a_step_bytes = step_bytes(shape.a_transposed);
  products.b_step_bytes = step_bytes(shape.b_transposed);
  products.a_tile_bytes = box_bytes;
  products.b_tile_bytes = shape.b_transposed != 0 ? (shape.n + 63) / 64 * box_bytes
                                                  : (shape.n * 128 + 1023) / 1024 * 1024;
  const unsigned tiles = (steps + 3) / 4;
  products.a_bytes = a_in_registers ? steps * 128 * 16 : tiles * products.a_tile_bytes;
  products.b_bytes = tiles * products.b_tile_bytes;
  products.accumulate = accumulate;
  program.grid.shared_bytes = (a_in_registers ? 0 : products.a_bytes) + products.b_bytes;
  program.input = {{fills.a, products.a_bytes, 11 + shape.n},
                   {fills.b, products.b_bytes, 12 + shape.n},
                   {fills.sums, 64 * shape.n * 4, 13 + shape.n}};
  program.output_bytes = 64 * shape.n * 4;
  return program;
}

template <class Kind, Chain chain = Chain::Shared>
void add_kind(std::vector<Program>& programs, const std::vector<KindFills>& all_fills) {
  constexpr WgmmaShape shape = Kind::shape;
  const auto letter = [](unsigned transposed) { return transposed != 0 ? "_mn" : ""; };
  constexpr bool a_in_registers = chain == Chain::Registers;
  const std::string start = std::string(a_in_registers ? "wgmma_register_" : "wgmma_") +
                            tw::name_of(shape.a) + letter(shape.a_transposed) + "_" +
                            tw::name_of(shape.b) + letter(shape.b_transposed) + "_n" +
                            std::to_string(shape.n);
  const Body body = body_of<Multiply<Kind, chain>>();
  for (const KindFills& fills : all_fills) {
    const bool is_rounded = *fills.name != 0;  // the unnamed are integers
    const auto add = [&](const char* name, unsigned steps, bool accumulate) {
      Program program = kind_program(shape, body, fills, steps, accumulate, a_in_registers);
      program.name = start + fills.name + name;
      program.is_rounded = is_rounded;
      programs.push_back(program);
    };
    add("_add", 1, true);
    add("_chain", is_rounded ? 4 : 6, false);
  }
}

template <ElementType a, ElementType b, unsigned a_transposed = 0, unsigned b_transposed = 0>
void add_kinds(std::vector<Program>& programs, const std::vector<KindFills>& fills) {
  add_kind<Kind<a, b, 8, a_transposed, b_transposed>>(programs, fills);
  add_kind<Kind<a, b, 64, a_transposed, b_transposed>>(programs, fills);
  add_kind<Kind<a, b, 192, a_transposed, b_transposed>>(programs, fills);
}

// Operands along m or n.
inline std::vector<Program> list_transposed_products() {
  using Type = ElementType;
  const std::vector<KindFills> bf16 = {
      {"", Fill::Bf16Integers, Fill::Bf16Integers, Fill::FloatIntegers}};
  const std::vector<KindFills> fp16 = {
      {"", Fill::Fp16Integers, Fill::Fp16Integers, Fill::FloatIntegers}};
  std::vector<Program> programs;
  add_kinds<Type::Bf16, Type::Bf16, 1, 0>(programs, bf16);
  add_kinds<Type::Bf16, Type::Bf16, 0, 1>(programs, bf16);
  add_kinds<Type::Bf16, Type::Bf16, 1, 1>(programs, bf16);
  add_kinds<Type::Fp16, Type::Fp16, 1, 0>(programs, fp16);
  add_kinds<Type::Fp16, Type::Fp16, 0, 1>(programs, fp16);
  add_kinds<Type::Fp16, Type::Fp16, 1, 1>(programs, fp16);
  return programs;
}

// Types. The named fills round; what is expected of them is MMA-Sim's arithmetic.
inline std::vector<Program> list_typed_products() {
  using Type = ElementType;
  constexpr Fill integers = Fill::FloatIntegers;
  std::vector<Program> programs;
  add_kinds<Type::Fp16, Type::Fp16>(
      programs, {{"", Fill::Fp16Integers, Fill::Fp16Integers, integers},
                 {"_normals", Fill::Fp16Normals, Fill::Fp16Normals, Fill::FloatNormals},
                 {"_tiny", Fill::Fp16Tiny, Fill::Fp16Tiny, Fill::FloatTiny}});
  add_kinds<Type::Tf32, Type::Tf32>(
      programs, {{"", Fill::Tf32Integers, Fill::Tf32Integers, integers},
                 {"_normals", Fill::FloatNormals, Fill::FloatNormals, Fill::FloatNormals},
                 {"_tiny", Fill::FloatTiny, Fill::FloatNormals, Fill::FloatTiny},
                 {"_huge", Fill::FloatHuge, Fill::FloatNormals, Fill::FloatHuge}});
  add_kinds<Type::S8, Type::S8>(programs, {{"", Fill::Bits, Fill::Bits, Fill::Bits}});
  return programs;
}

inline std::vector<Program> list_fp8_products() {
  using Type = ElementType;
  constexpr Fill integers = Fill::FloatIntegers, normals = Fill::FloatNormals;
  constexpr Fill e4m3[] = {Fill::E4m3Integers, Fill::E4m3Finite, Fill::E4m3Special};
  constexpr Fill e5m2[] = {Fill::E5m2Integers, Fill::E5m2Finite, Fill::E5m2Special};
  const auto fills = [&](const Fill(&a)[3], const Fill(&b)[3]) {
    return std::vector<KindFills>{{"", a[0], b[0], integers},
                                  {"_finite", a[1], b[1], normals},
                                  {"_special", a[2], b[2], Fill::FloatSpecial}};
  };
  std::vector<Program> programs;
  add_kinds<Type::E4m3, Type::E4m3>(programs, fills(e4m3, e4m3));
  add_kind<Kind<Type::E4m3, Type::E4m3, 8, 0, 0>, Chain::Registers>(programs, fills(e4m3, e4m3));
  add_kind<Kind<Type::E4m3, Type::E4m3, 128, 0, 0>, Chain::Registers>(programs, fills(e4m3, e4m3));
  add_kinds<Type::E4m3, Type::E5m2>(programs, fills(e4m3, e5m2));
  add_kinds<Type::E5m2, Type::E4m3>(programs, fills(e5m2, e4m3));
  add_kinds<Type::E5m2, Type::E5m2>(programs, fills(e5m2, e5m2));
  return programs;
}

}  // namespace tw::conformance
