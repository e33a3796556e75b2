#include "tests/vgpu/ring_matmul.h"

#include <bit>
#include <random>

#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/matrix.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/isa/ptx/tma_store.h"
#include "tilewright/isa/ptx/wgmma.h"
#include "vgpu/data/matrix_descriptor.h"
#include "vgpu/data/tile_map.h"

namespace tw::test {
namespace {

std::uint16_t bf16_of(float value) { return std::bit_cast<std::uint32_t>(value) >> 16; }
float float_of(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::vector<std::uint16_t> small_integers(std::size_t count, unsigned seed) {
  std::mt19937 dice(seed);
  std::vector<std::uint16_t> values(count);
  for (auto& value : values) value = bf16_of(static_cast<float>(static_cast<int>(dice() % 5) - 2));
  return values;
}

TensorMap map_of(std::vector<std::uint16_t>& matrix, unsigned rows, unsigned columns,
                 unsigned box_rows) {
  vgpu::TileMap map;
  map.base = matrix.data();
  map.element_bytes = 2;
  map.rank = 2;
  map.extents[0] = columns;
  map.extents[1] = rows;
  map.pitch_bytes[0] = columns * 2;
  map.box[0] = 64;
  map.box[1] = box_rows;
  map.swizzle = vgpu::MapSwizzle::Bytes128;
  return vgpu::encode(map);
}

std::uint64_t descriptor(SharedAddress start) {
  vgpu::MatrixDescriptor fields;
  fields.start = start;
  fields.leading_bytes = 16;
  fields.stride_bytes = 1024;
  fields.swizzle = vgpu::MapSwizzle::Bytes128;
  return vgpu::encode_matrix_descriptor(fields);
}

SharedAddress at(unsigned offset) {
  return isa::shared_address(static_cast<std::byte*>(isa::dynamic_shared()) + offset);
}

void wait(SharedAddress barrier, unsigned parity) {
  while (!isa::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

}  // namespace

RingMatmul::RingMatmul(unsigned m, unsigned n, unsigned k, unsigned tile_n, Bug bug)
    : m_(m),
      n_(n),
      k_(k),
      tile_n_(tile_n),
      bug_(bug),
      a_(small_integers(std::size_t{m} * k, 1)),
      b_(small_integers(std::size_t{n} * k, 2)),
      c_(std::size_t{m + 1} * n, 0xFFFF),
      a_map_(map_of(a_, m, k, tile_m)),
      b_map_(map_of(b_, n, k, tile_n)),
      c_map_(map_of(c_, bug == Bug::StoreOutside ? m + 1 : m, n, 64)) {}

void RingMatmul::Ring::step(unsigned stages) {
  ++steps;
  if (++slot == stages) {
    slot = 0;
    parity ^= 1;
  }
}

SharedAddress RingMatmul::full(unsigned stage) const { return at(barriers_at() + 8 * stage); }
SharedAddress RingMatmul::empty(unsigned stage) const {
  return at(barriers_at() + 8 * (stages + stage));
}

vgpu::Report RingMatmul::run(const vgpu::Options& options) {
  const vgpu::Launch launch{ctas, 1, threads, barriers_at() + 16 * stages,
                            [this] { thread_body(); }};
  const vgpu::GlobalRange memory[] = {
      {a_.data(), a_.size() * 2, "a", true, false},
      {b_.data(), b_.size() * 2, "b", true, false},
      {c_.data(), std::size_t{m_} * n_ * 2, "c", false, true},
  };
  return vgpu::run(launch, memory, options);
}

bool RingMatmul::correct() const {
  for (unsigned row = 0; row < m_; ++row) {
    for (unsigned column = 0; column < n_; ++column) {
      float sum = 0;
      for (unsigned i = 0; i < k_; ++i)
        sum += float_of(a_[row * k_ + i]) * float_of(b_[column * k_ + i]);
      if (c_[row * n_ + column] != bf16_of(sum)) return false;
    }
  }
  return true;
}

void RingMatmul::thread_body() const {
  if (isa::thread_index() == 0) {
    for (unsigned stage = 0; stage < stages; ++stage) {
      isa::mbarrier_init(full(stage), 1);
      isa::mbarrier_init(empty(stage), bug_ == Bug::TooManyArrivals  ? 3
                                       : bug_ == Bug::TooFewArrivals ? 1
                                                                     : 2);
      isa::describe_barrier(full(stage), "full", stage);
      isa::describe_barrier(empty(stage), "empty", stage);
      isa::describe_shared(at(stage * stage_bytes()), stage_bytes(), "input", stage);
    }
    for (unsigned buffer = 0; buffer < 4; ++buffer) {
      isa::describe_shared(at(staging_at() + buffer * staging_bytes), staging_bytes, "output",
                           buffer);
    }
    if (bug_ != Bug::NoInitFence) isa::fence_mbarrier_init();
  }
  if (bug_ != Bug::NoInitBarrier) isa::barrier_sync(0, threads);
  const unsigned group = isa::thread_index() / 128;
  if (group == 0) {
    isa::setmaxnreg_decrease<40>();
    if (isa::thread_index() / 32 == 0 && isa::elect_one()) load_tiles();
    return;
  }
  isa::setmaxnreg_increase<232>();
  if (tile_n_ == 64) multiply_tiles<64>(group - 1);
  if (tile_n_ == 128) multiply_tiles<128>(group - 1);
  if (tile_n_ == 256) multiply_tiles<256>(group - 1);
}

void RingMatmul::load_k_tile(const Ring& ring, unsigned tile, unsigned k) const {
  const int a_at[2] = {static_cast<int>(k * tile_k), static_cast<int>(tile / tiles_n() * tile_m)};
  const int b_at[2] = {static_cast<int>(k * tile_k), static_cast<int>(tile % tiles_n() * tile_n_)};
  const SharedAddress stage = at(ring.slot * stage_bytes());
  isa::describe_step(ring.steps);
  const unsigned bytes = stage_bytes() - (bug_ == Bug::TooFewBytes    ? a_bytes()
                                          : bug_ == Bug::TooManyBytes ? -16
                                                                      : 0);
  isa::mbarrier_arrive_expect_tx(full(ring.slot), bytes);
  isa::cp_async_bulk_tensor_load(stage, &a_map_, full(ring.slot), a_at,
                                 isa::CacheHint::EvictNormal);
  isa::cp_async_bulk_tensor_load(stage + a_bytes(), &b_map_, full(ring.slot), b_at,
                                 isa::CacheHint::EvictNormal);
}

void RingMatmul::load_tiles() const {
  isa::describe_role("load");
  Ring ring;
  const unsigned flip = bug_ == Bug::WrongParity ? 0 : 1;
  for (unsigned tile = isa::cta_index(); tile < tiles(); tile += isa::cta_count()) {
    for (unsigned k = 0; k < k_tiles(); ++k) {
      if (bug_ != Bug::NoWaitForEmpty) {
        wait(empty(ring.slot), ring.parity ^ flip);
      }
      load_k_tile(ring, tile, k);
      ring.step(stages);
    }
  }
  if (bug_ == Bug::ExitWithLoads) {
    wait(empty(ring.slot), ring.parity ^ 1);
    load_k_tile(ring, 0, 0);
  }
}

template <unsigned n>
void RingMatmul::multiply_stage(float (&sum)[n / 2], unsigned group, unsigned slot,
                                bool accumulate) const {
  if (bug_ == Bug::WrongOperand && group == 1) slot = (slot + stages - 1) % stages;
  const SharedAddress stage = at(slot * stage_bytes());
  if (bug_ != Bug::NoWgmmaFence) isa::wgmma_fence();
  for (unsigned k = 0; k < tile_k / 16; ++k) {
    isa::wgmma<WgmmaShape{.n = n}>(sum, descriptor(stage + group * 64 * 128 + 32 * k),
                                   descriptor(stage + a_bytes() + 32 * k), accumulate || k > 0);
  }
  isa::wgmma_commit_group();
}

template <unsigned n>
void RingMatmul::multiply_tiles(unsigned group) const {
  isa::describe_role(group == 0 ? "multiply 0" : "multiply 1");
  const bool speaks = isa::thread_index() % 128 == 0;
  Ring ring;
  unsigned chunks = 0;
  for (unsigned tile = isa::cta_index(); tile < tiles(); tile += isa::cta_count()) {
    float sum[n / 2];
    unsigned held = stages;  // the stage whose product may be in flight
    for (unsigned k = 0; k < k_tiles(); ++k) {
      if (bug_ != Bug::NoWaitForFull) wait(full(ring.slot), ring.parity);
      isa::describe_step(ring.steps);
      multiply_stage<n>(sum, group, ring.slot, k > 0);
      if (bug_ == Bug::ReleaseBeforeWait) {
        if (speaks) isa::mbarrier_arrive(empty(ring.slot));
      }
      isa::wgmma_wait_group<1>();
      const bool forget = bug_ == Bug::NoRelease && group == 1 && ring.steps == 2;
      if (bug_ != Bug::ReleaseBeforeWait && held < stages && speaks && !forget) {
        isa::mbarrier_arrive(empty(held));
      }
      held = ring.slot;
      if (bug_ != Bug::ConsumerStaysBehind || group == 0 || ring.steps != 2) ring.step(stages);
    }
    if (bug_ != Bug::NoWgmmaWait) isa::wgmma_wait_group<0>();
    if (bug_ != Bug::ReleaseBeforeWait && speaks) isa::mbarrier_arrive(empty(held));
    store_tile<n>(sum, group, tile, chunks);
    isa::fragment_access(sum, n / 2);
  }
  if (speaks && bug_ != Bug::ExitWithStores) isa::cp_async_bulk_wait_group_read<0>();
}

template <unsigned n>
void RingMatmul::store_tile(const float (&sum)[n / 2], unsigned group, unsigned tile,
                            unsigned& chunks) const {
  const unsigned thread = isa::thread_index() % 128;
  const unsigned lane = thread % 32;
  const unsigned row = 16 * (thread / 32) + lane % 16;
  const bool stores = thread == 0;
  for (unsigned chunk = 0; chunk < n / 64; ++chunk, ++chunks) {
    const SharedAddress buffer = at(staging_at() + (2 * group + chunks % 2) * staging_bytes);
    // The store of two chunks ago must have read the buffer.
    if (stores && bug_ != Bug::NoStoreWait) isa::cp_async_bulk_wait_group_read<1>();
    isa::barrier_sync(1 + group, 128);
    for (unsigned i = 0; i < 4; ++i) {
      std::uint32_t packed[4];
      for (unsigned pair = 0; pair < 4; ++pair) {
        const unsigned value = chunk * 32 + 8 * i + 2 * pair;
        isa::fragment_access(&sum[value], 2);
        packed[pair] = bf16_of(sum[value]) | std::uint32_t{bf16_of(sum[value + 1])} << 16;
      }
      const unsigned column_group = (2 * i + lane / 16) ^ (row % 8);
      isa::stmatrix_x4(buffer + row * 128 + column_group * 16, packed[0], packed[1], packed[2],
                       packed[3]);
    }
    if (bug_ != Bug::NoProxyFence) isa::fence_proxy_async();
    if (bug_ != Bug::NoBarrierBeforeStore) isa::barrier_sync(1 + group, 128);
    if (!stores) continue;
    const int c_at[2] = {static_cast<int>(tile % tiles_n() * tile_n_ + chunk * 64),
                         static_cast<int>(tile / tiles_n() * tile_m + group * 64)};
    isa::cp_async_bulk_tensor_store(&c_map_, buffer, c_at);
    isa::cp_async_bulk_commit_group();
  }
}

}  // namespace tw::test
