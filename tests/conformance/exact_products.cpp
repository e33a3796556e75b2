#include "tests/conformance/exact_products.h"

#include "vgpu/data/matrix_descriptor.h"
#include "vgpu/data/wgmma.h"

namespace tw::conformance {
namespace {

constexpr unsigned threads = 128;

void find_chunks(const std::byte* image, std::uint64_t descriptor, unsigned begin, unsigned rows,
                 bool transposed, const std::byte** chunks) {
  const auto fields = vgpu::decode_matrix_descriptor(descriptor | begin >> 4);
  for (unsigned index = 0; index < 2 * rows; ++index) {
    chunks[index] = image + vgpu::chunk_at(fields, transposed, index);
  }
}

}  // namespace

bool is_product(const Program& program) { return program.params.products.steps > 0; }

std::vector<unsigned char> exact_products(const Program& program) {
  const Products& products = program.params.products;
  const WgmmaShape& shape = program.shape;
  const unsigned n = shape.n;
  const bool a_in_registers = program.grid.shared_bytes == products.b_bytes;
  const std::vector<unsigned char> input = make_input(program.input);
  const auto* image = reinterpret_cast<const std::byte*>(input.data());
  const auto word = [&](std::size_t index) {
    std::uint32_t value;
    std::memcpy(&value, input.data() + index * 4, 4);
    return value;
  };

  std::vector<std::uint32_t> sums(64 * n);  // thread by thread
  std::uint32_t* fragments[threads];
  const std::size_t first_sum = (products.a_bytes + products.b_bytes) / 4;
  for (unsigned thread = 0; thread < threads; ++thread) {
    fragments[thread] = sums.data() + thread * (n / 2);
    for (unsigned i = 0; i < n / 2; ++i) {
      fragments[thread][i] = word(first_sum + i * threads + thread);
    }
  }
  std::uint32_t a_registers[threads][4];
  vgpu::WgmmaOperands operands;
  operands.a_from_registers = a_in_registers;
  for (unsigned step = 0; step < products.steps; ++step) {
    const unsigned tile = step / products.steps_per_tile;
    const unsigned in_tile = step % products.steps_per_tile;
    for (unsigned thread = 0; a_in_registers && thread < threads; ++thread) {
      for (unsigned i = 0; i < 4; ++i) {
        a_registers[thread][i] = word((step * 4 + i) * threads + thread);
      }
      operands.a_registers[thread] = a_registers[thread];
    }
    if (!a_in_registers) {
      find_chunks(image, products.a_descriptor,
                  tile * products.a_tile_bytes + in_tile * products.a_step_bytes, 64,
                  shape.a_transposed != 0, operands.a_chunks);
    }
    find_chunks(image + products.a_bytes, products.b_descriptor,
                tile * products.b_tile_bytes + in_tile * products.b_step_bytes, n,
                shape.b_transposed != 0, operands.b_chunks);
    vgpu::wgmma_m64_exact(shape, fragments, operands, products.accumulate || step > 0);
  }
  std::vector<unsigned char> output(program.output_bytes);
  for (unsigned thread = 0; thread < threads; ++thread) {
    for (unsigned i = 0; i < n / 2; ++i) {
      std::memcpy(output.data() + (i * threads + thread) * 4, &fragments[thread][i], 4);
    }
  }
  return output;
}

}  // namespace tw::conformance
