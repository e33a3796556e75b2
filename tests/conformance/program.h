// A conformance program: a few instructions, written over tw::isa only, with the same source for
// the GPU and for the virtual GPU. The virtual GPU writes what it must give; an H200 is held to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/input.h"
#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"
#include "tilewright/isa/wgmma_shape.h"
#if defined(__CUDACC__)
#include "tilewright/kernel/entry.h"
#endif

namespace tw::conformance {

inline constexpr unsigned most_copies = 8;

// The copies of one program; each takes its own slot of shared memory.
struct Copies {
  unsigned count;
  int at[most_copies][5];
  unsigned counted_bytes;                 // that one copy adds to its barrier
  unsigned slot_bytes;                    // a multiple of 1024, where every swizzle starts afresh
  std::uint16_t offsets[most_copies][3];  // where a filter's position lies, if columns are copied
  unsigned issuer[most_copies];           // multicast: the rank that issues the copy
  std::uint16_t mask[most_copies];        // multicast: the ranks that get it
};

// A chain of products. Shared memory holds the image of A (unless it comes in registers), then that
// of B; the input holds the same, then the accumulators, value by value over the 128 threads.
struct Products {
  std::uint64_t a_descriptor, b_descriptor;  // but for the address
  unsigned a_bytes, b_bytes;
  unsigned steps, steps_per_tile;
  unsigned a_step_bytes, b_step_bytes;  // from one step of a tile to the next
  unsigned a_tile_bytes, b_tile_bytes;  // tiles follow each other
  bool accumulate;                      // also in the first step
};

// A chain of tcgen05 products. Shared memory, from `operands_at` on, holds the images of A and B
// and the blocks of their scales; the input holds the same for each CTA.
struct TensorProducts {
  std::uint64_t a_descriptor, b_descriptor;  // but for the address
  std::uint32_t instruction;                 // the first step's
  unsigned n;
  unsigned a_bytes, b_bytes;              // what a CTA has
  unsigned a_scale_bytes, b_scale_bytes;  // 0: without scales
  unsigned steps;
  unsigned a_step_bytes, b_step_bytes;
};

struct Params {
  TensorMap map;
  const std::uint32_t* input;
  std::uint32_t* output;
  unsigned count;  // rounds, or words
  Copies copies;
  Products products;
  TensorProducts tensor_products;
};

#if defined(__CUDACC__)
using Body = void (*)(Params);
template <class Kernel>
Body body_of() {
  return &kernel::entry<Kernel>;
}
#else
using Body = void (*)(const Params&);  // a thread's own copy would be a tensor map in local memory
template <class Kernel>
Body body_of() {
  return &Kernel::run;
}
#endif

struct Grid {
  unsigned ctas = 1;
  unsigned cluster_size = 1;
  unsigned threads = 128;
  std::size_t shared_bytes = 0;
};

// Powers of two: the span is 16 << swizzle bytes.
enum class Swizzle : unsigned { None, Bytes32, Bytes64, Bytes128 };

// The tensor that the copies move boxes of, or columns of pixels. Dimension 0 is the innermost.
struct Tensor {
  unsigned element_bytes = 4;  // in shared memory
  unsigned packed_bits = 0;  // in global memory, where 16 elements are unpacked to 16 bytes; 0: no
  unsigned rank = 0;         // 0: the program copies nothing
  std::uint64_t extents[5] = {1, 1, 1, 1, 1};
  std::uint64_t pitch_bytes[4] = {};
  unsigned box[5] = {1, 1, 1, 1, 1};
  Swizzle swizzle = Swizzle::None;
  unsigned pixels = 0;  // pixels of a column (im2col); 0: boxes
  int lower[3] = {};    // the pixel box, and its steps: entry i belongs to dimension i + 1
  int upper[3] = {};
  unsigned steps[3] = {1, 1, 1};
  bool in_output = false;
  std::size_t offset = 0;  // where its first byte lies in the input or output
};

struct Program {
  std::string name;
  Body body = nullptr;
  Grid grid;
  std::vector<Segment> input;
  std::size_t output_bytes = 0;
  Tensor tensor;
  Params params{};          // without addresses
  WgmmaShape shape;         // its products'
  bool is_rounded = false;  // sums are not exact: what is expected comes from the exact arithmetic
};

// Nobody writes this by chance: bytes that a program leaves alone stay recognisable.
inline constexpr unsigned char untouched = 0xc5;

}  // namespace tw::conformance
