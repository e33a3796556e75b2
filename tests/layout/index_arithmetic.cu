// Pairs of kernels: index arithmetic by hand, and the same through a TileTensor. count_ptx.py
// compares how many instructions each takes.
#include "register_tile.h"
#include "tilewright/layout/text.h"

using namespace tw;

namespace {

constexpr unsigned threads = 256;
constexpr Facts sixteen_bytes{16, 16, 4};
using Four = Vector<float, 4>;

}  // namespace

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(threads) name

// Power of two, flat.
KERNEL(hand_flat)(float* out, const float* in) {
  unsigned i = threadIdx.x % 32;
  unsigned j = threadIdx.x / 32;
  out[threadIdx.x] = in[i * 64 + j];
}
KERNEL(tensor_flat)(float* out, const float* in) {
  TileTensor<const float, Space::Global, "(32,64):(64,1)"_layout> tensor(in);
  unsigned i = threadIdx.x % 32;
  unsigned j = threadIdx.x / 32;
  out[threadIdx.x] = tensor.load(i, j);
}

// Hierarchical: blocks of 8 by 4, contiguous each, in rows of blocks.
KERNEL(hand_hierarchical)(float* out, const float* in) {
  unsigned i = threadIdx.x % 32;
  unsigned j = threadIdx.x / 32;
  out[threadIdx.x] = in[i % 8 * 4 + i / 8 * 512 + j % 4 + j / 4 * 32];
}
KERNEL(tensor_hierarchical)(float* out, const float* in) {
  TileTensor<const float, Space::Global, "((8,4),(4,16)):((4,512),(1,32))"_layout> tensor(in);
  unsigned i = threadIdx.x % 32;
  unsigned j = threadIdx.x / 32;
  out[threadIdx.x] = tensor.load(i, j);
}

// Hierarchical, blocks of 6 by 5.
KERNEL(hand_uneven)(float* out, const float* in) {
  unsigned i = threadIdx.x % 32;
  unsigned j = threadIdx.x / 32;
  out[threadIdx.x] = in[i % 6 * 5 + i / 6 * 210 + j % 5 + j / 5 * 30];
}
KERNEL(tensor_uneven)(float* out, const float* in) {
  TileTensor<const float, Space::Global, "((6,6),(5,7)):((5,210),(1,30))"_layout> tensor(in);
  unsigned i = threadIdx.x % 32;
  unsigned j = threadIdx.x / 32;
  out[threadIdx.x] = tensor.load(i, j);
}

// Hierarchical in name only: what continues itself is merged, and a division falls away.
KERNEL(hand_mergeable)(float* out, const float* in) {
  unsigned i = threadIdx.x % 32;
  unsigned j = threadIdx.x / 32;
  out[threadIdx.x] = in[i % 6 * 5 + i / 6 * 30 + j % 5 + j / 5 * 180];
}
KERNEL(tensor_mergeable)(float* out, const float* in) {
  TileTensor<const float, Space::Global, "((6,6),(5,7)):((5,30),(1,180))"_layout> tensor(in);
  unsigned i = threadIdx.x % 32;
  unsigned j = threadIdx.x / 32;
  out[threadIdx.x] = tensor.load(i, j);
}

// Shared memory with a swizzle.
KERNEL(hand_swizzled)(float* out, const float* in) {
  __shared__ float tile[32 * 32];
  unsigned i = threadIdx.x / 32;
  unsigned j = threadIdx.x % 32;
  unsigned to = i * 32 + j;
  tile[to ^ (to & 0xe0) >> 3] = in[threadIdx.x];
  __syncthreads();
  unsigned from = j % 8 * 32 + i;
  out[threadIdx.x] = tile[from ^ (from & 0xe0) >> 3];
}
KERNEL(tensor_swizzled)(float* out, const float* in) {
  __shared__ float storage[32 * 32];
  TileTensor<float, Space::Shared, "Sw<3,2,3> o (32,32):(32,1)"_layout> tile(storage);
  unsigned i = threadIdx.x / 32;
  unsigned j = threadIdx.x % 32;
  tile.store(in[threadIdx.x], i, j);
  __syncthreads();
  out[threadIdx.x] = tile.load(j % 8, i);
}

// A stage of a swizzled ring: a slice that moves the pointer, not the swizzle.
KERNEL(hand_stage)(float* out, const float* in, unsigned stage) {
  __shared__ float tiles[4 * 1024];
  float* tile = tiles + stage * 1024;
  unsigned i = threadIdx.x / 32;
  unsigned j = threadIdx.x % 32;
  unsigned to = i * 32 + j;
  tile[to ^ (to & 0xe0) >> 3] = in[threadIdx.x];
  __syncthreads();
  unsigned from = j % 8 * 32 + i;
  out[threadIdx.x] = tile[from ^ (from & 0xe0) >> 3];
}
KERNEL(tensor_stage)(float* out, const float* in, unsigned stage) {
  __shared__ float storage[4 * 1024];
  TileTensor<float, Space::Shared, "Sw<3,2,3> o (32,32,4):(32,1,1024)"_layout> tiles(storage);
  auto tile = tiles.slice(whole, whole, stage);
  unsigned i = threadIdx.x / 32;
  unsigned j = threadIdx.x % 32;
  tile.store(in[threadIdx.x], i, j);
  __syncthreads();
  out[threadIdx.x] = tile.load(j % 8, i);
}

// A thread's part of a tile, through registers, unrolled.
KERNEL(hand_unrolled)(float* out, const float* in) {
  unsigned first = threadIdx.x / 8 * 32 + threadIdx.x % 8;
  float part[4];
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) part[j] = in[first + j * 8];
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) out[first + j * 8] = part[j] + part[3 - j];
}
KERNEL(tensor_unrolled)(float* out, const float* in) {
  constexpr Layout tile = "(32,32):(32,1)"_layout;
  constexpr Layout numbers = "(32,8):(8,1)"_layout;
  auto from = TileTensor<const float, Space::Global, tile>(in).distribute<numbers>(threadIdx.x);
  auto to = TileTensor<float, Space::Global, tile>(out).distribute<numbers>(threadIdx.x);
  RegisterTile<float, "4:1"_layout> registers;
  auto part = registers.tensor();
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) part.store(from.load(0, j), j);
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) to.store(part.load(j) + part.load(3 - j), 0, j);
}

// One element of a ragged tile, with a run-time pitch.
KERNEL(hand_pitched)(float* out, const float* in, unsigned m, unsigned n, long long pitch) {
  unsigned row = blockIdx.y * 32 + threadIdx.x / 8;
  unsigned column = blockIdx.x * 8 + threadIdx.x % 8;
  float value = 0;
  if (row < m && column < n) value = in[row * pitch + column];
  out[threadIdx.x] = value;
}
KERNEL(tensor_pitched)(float* out, const float* in, unsigned m, unsigned n, long long pitch) {
  TileTensor<const float, Space::Global, "(_,_):(1@1,1)"_layout> tensor(in, {m, n}, {pitch});
  auto tile = tensor.tile<32, 8>(blockIdx.y, blockIdx.x);
  auto where = tensor.coordinates().tile<32, 8>(blockIdx.y, blockIdx.x);
  unsigned i = threadIdx.x / 8;
  unsigned j = threadIdx.x % 8;
  out[threadIdx.x] = tile.load_if(is_inside(where.load(i, j), tensor.limits()), i, j);
}

// Many elements of a tile, from an anchored pointer.
KERNEL(hand_anchored)(float* out, const float* in, unsigned m, unsigned n, long long pitch) {
  unsigned row = blockIdx.y * 32 + threadIdx.x / 8;
  unsigned column = blockIdx.x * 8 + threadIdx.x % 8;
  const float* first = in + row * pitch + column;
  float sum = 0;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) sum += first[i * 8 * pitch];
  out[threadIdx.x] = sum;
}
KERNEL(tensor_anchored)(float* out, const float* in, unsigned m, unsigned n, long long pitch) {
  TileTensor<const float, Space::Global, "(_,_):(1@1,1)"_layout> tensor(in, {m, n}, {4 * pitch});
  auto tile = tensor.tile<32, 8>(blockIdx.y, blockIdx.x);
  auto part = tile.distribute<"(8,8):(8,1)"_layout>(threadIdx.x).anchored();
  float sum = 0;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) sum += part.load(i, 0);
  out[threadIdx.x] = sum;
}

// The same with vectors of 16 bytes.
KERNEL(hand_vectors)(Four* out, const float* in, unsigned m, unsigned n, long long pitch) {
  unsigned row = blockIdx.y * 32 + threadIdx.x / 8;
  unsigned column = blockIdx.x * 32 + threadIdx.x % 8 * 4;
  Four value{};
  if (row < m && column < n) value = *reinterpret_cast<const Four*>(in + row * pitch + column);
  out[threadIdx.x] = value;
}
KERNEL(tensor_vectors)(Four* out, const float* in, unsigned m, unsigned n, long long pitch) {
  TileTensor<const float, Space::Global, "(_,_):(1@1,1)"_layout> tensor(in, {m, n}, {pitch});
  auto vectors = tensor.vectorize<sixteen_bytes, 1, 4>();
  auto tile = vectors.tile<32, 8>(blockIdx.y, blockIdx.x);
  auto where = vectors.coordinates().tile<32, 8>(blockIdx.y, blockIdx.x);
  unsigned i = threadIdx.x / 8;
  unsigned j = threadIdx.x % 8;
  out[threadIdx.x] = tile.load_if(is_inside(where.load(i, j), vectors.limits()), i, j);
}

// Two fp4 a byte.
struct Fp4 {
  struct Format {
    static constexpr int bits() { return 4; }
  };
  static constexpr Format format{};
  static constexpr Fp4 from_bits(unsigned char bits) { return Fp4{bits}; }
  unsigned char bits;
};
KERNEL(hand_packed)(unsigned char* out, const unsigned char* in) {
  unsigned index = threadIdx.x % 32 * 64 + threadIdx.x / 32;
  out[threadIdx.x] = in[index / 2] >> index % 2 * 4 & 15;
}
KERNEL(tensor_packed)(unsigned char* out, const unsigned char* in) {
  TileTensor<const Fp4, Space::Global, "(32,64):(64,1)"_layout> tensor(in);
  out[threadIdx.x] = tensor.load(threadIdx.x % 32, threadIdx.x / 32).bits;
}
