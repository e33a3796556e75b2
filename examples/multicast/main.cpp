// Two CTAs of a cluster need the same tiles: each loads half of every tile, and TMA writes that
// half into both. CTA 0 adds up the columns, CTA 1 adds up their squares.
#include <tilewright/isa/ptx/tma.h>
#include <tilewright/layout/text.h>
#include <tilewright/layout/tile_tensor.h>
#include <tilewright/number/narrow_float.h>
#include <tilewright/pipeline/mbarrier.h>
#include <vgpu/schedules.h>

constexpr unsigned rows = 64, columns = 64, tiles = 4, m = rows * tiles;
constexpr tw::Layout layout = tw::parse_layout("Sw<3,3,3> o (64,64):(64,1)");
struct Tile {
  alignas(1024) tw::Bf16 a[rows * columns];
};
struct Shared {
  Tile tile[tiles];
  std::uint64_t full[tiles];  // full[t]: arrives thread 0 + the bytes of both halves; publishes
                              // tile t; waited by all threads of the CTA
};

// `a` has boxes of half a tile; `sums` has a row for each CTA.
TW_DEVICE void run(const tw::TensorMap& a, float* sums) {
  using namespace tw;
  Shared& storage = *static_cast<Shared*>(isa::dynamic_shared());
  const unsigned thread = isa::thread_index(), rank = isa::cluster_rank();
  // The peer's copies come as soon as it runs: barriers are ready before the cluster meets.
  if (thread == 0) {
    for (std::uint64_t& full : storage.full) isa::mbarrier_init(isa::shared_address(&full), 1);
    isa::fence_mbarrier_init();
  }
  isa::cluster_arrive();
  isa::cluster_wait();
  for (unsigned t = 0; t < tiles && thread == 0; ++t) {
    const SharedAddress full = isa::shared_address(&storage.full[t]);
    const SharedAddress half =
        isa::shared_address(&storage.tile[t]) + rank * unsigned{sizeof(Tile) / 2};
    isa::mbarrier_arrive_expect_tx(full, sizeof(Tile));
    const int at[3] = {0, static_cast<int>(t * rows + rank * rows / 2), 0};
    // At the same places in both CTAs, those of the barrier too.
    isa::cp_async_bulk_tensor_load_multicast(half, &a, full, at, TO, isa::CacheHint::EvictNormal);
  }
  float sum = 0;
  for (unsigned t = 0; t < tiles; ++t) {
    wait_for_phase(isa::shared_address(&storage.full[t]), 0);
    const TileTensor<Bf16, Space::Shared, layout> tile(storage.tile[t].a);
    for (unsigned i = 0; i < rows; ++i) {
      const auto value = static_cast<float>(tile.load(i, thread));
      sum += rank == 0 ? value : value * value;
    }
  }
  store_element<Space::Global>(sums + rank * columns + thread, sum);
  isa::cluster_arrive();  // no CTA leaves while the other's copies still land in it
  isa::cluster_wait();
}

alignas(128) static tw::Bf16 a[m * columns];
static float sums[2 * columns];

int main() {
  for (unsigned i = 0; i < m * columns; ++i) a[i] = tw::Bf16(static_cast<float>(i % columns % 5));
  const tw::TensorMap map = tw::map_for_virtual(
      {a, tw::ElementType::Bf16, columns, m, 1, 2 * columns, 0, columns, rows / 2});
  const tw::vgpu::GlobalRange memory[] = {{a, sizeof a, "A", true, false},
                                          {sums, sizeof sums, "sums", false, true}};
  const tw::vgpu::Launch launch = {2, 2, columns, sizeof(Shared), [&] { run(map, sums); }};
  return tw::vgpu::check_schedules(40, launch, memory, [] {
    bool right = true;
    for (unsigned i = 0; i < 2 * columns; ++i) {
      const auto value = static_cast<float>(i % columns % 5);
      right = right && sums[i] == m * value * (i < columns ? 1.0f : value);
    }
    return right;
  });
}
