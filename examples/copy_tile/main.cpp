// Transposes a matrix, a tile at a time, through shared memory: tensors, layouts, one barrier.
#include <tilewright/isa/shared_memory.h>
#include <tilewright/isa/threads.h>
#include <tilewright/layout/text.h>
#include <tilewright/layout/tile_tensor.h>
#include <vgpu/schedules.h>
#include <vgpu/simulate.h>

#include <algorithm>

using namespace tw::literals;

struct Transpose {
  static constexpr int edge = 32;
  static constexpr unsigned threads = 128;
  // (row,column) of a tile. Without the swizzle a column would lie in one bank.
  static constexpr tw::Layout layout = "Sw<5,0,5> o (32,32):(32,1)"_layout;
  struct Storage {
    float tile[edge * edge];
  };
  struct Params {
    const float* source;  // (m,n)
    float* destination;   // (n,m)
    int m, n;
  };

  static TW_DEVICE void run(const Params& params) {
    using namespace tw;
    Storage& storage = *static_cast<Storage*>(isa::dynamic_shared());
    const TileTensor<float, Space::Shared, layout> tile(storage.tile);
    const int across = (params.n + edge - 1) / edge, block = static_cast<int>(isa::cta_index());
    const int row = block / across * edge, column = block % across * edge;
    const int thread = static_cast<int>(isa::thread_index());
    for (int i = thread; i < edge * edge; i += threads) {
      const int r = i / edge, c = i % edge;
      if (row + r < params.m && column + c < params.n) {
        tile.store(load_element<Space::Global>(params.source + (row + r) * params.n + column + c),
                   r, c);
      }
    }
#ifndef WITHOUT_BARRIER
    isa::barrier_sync(1, threads);
#endif
    for (int i = thread; i < edge * edge; i += threads) {
      const int r = i % edge, c = i / edge;
      if (row + r < params.m && column + c < params.n) {
        store_element<Space::Global>(params.destination + (column + c) * params.m + row + r,
                                     tile.load(r, c));
      }
    }
  }
};

constexpr int m = 70, n = 100;
static float source[m * n], destination[n * m];

int main() {
  for (int i = 0; i < m * n; ++i) source[i] = static_cast<float>(i);
  const Transpose::Params params = {source, destination, m, n};
  const tw::vgpu::GlobalRange memory[] = {
      {source, sizeof source, "the source", true, false},
      {destination, sizeof destination, "the destination", false, true}};
  constexpr unsigned ctas = 3 * 4;  // tiles of 32 x 32 that cover 70 x 100
  return tw::vgpu::check_schedules(40, [&](const auto& options, tw::vgpu::Report& report) {
    std::fill(std::begin(destination), std::end(destination), -1.0f);
    report = tw::simulate<Transpose>(params, ctas, memory, options);
    for (int i = 0; i < m * n; ++i) {
      if (destination[i % n * m + i / n] != source[i]) return false;
    }
    return true;
  });
}
