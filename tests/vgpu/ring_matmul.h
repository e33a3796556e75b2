// A warp-specialised matmul written flat over isa/: the smallest program in which every mechanism
// of the machine plays its part (TMA ring, two multiplying warpgroups, staged TMA stores,
// persistence). Each `Bug` changes one line of it.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/isa/model.h"
#include "vgpu/machine/machine.h"

namespace tw::test {

enum class Bug {
  None,
  NoWaitForFull,
  NoWaitForEmpty,
  ReleaseBeforeWait,     // the stage goes back while the tensor core may still read it
  NoProxyFence,          // between stmatrix and the TMA store
  NoBarrierBeforeStore,  // the storing thread does not know the others' writes
  NoStoreWait,           // the staging buffer is written again under the TMA store
  NoWgmmaWait,           // accumulators are read in flight
  NoWgmmaFence,
  TooFewBytes,
  TooManyBytes,
  TooManyArrivals,  // expected on empty: 3 instead of 2
  TooFewArrivals,   // expected on empty: 1 instead of 2
  NoInitBarrier,    // the threads do not meet after the barriers' init
  NoInitFence,
  WrongParity,          // the loader starts with parity 0
  ConsumerStaysBehind,  // a reader forgets to step its ring once
  WrongOperand,         // group 1 reads the stage before its own
  ExitWithStores,
  ExitWithLoads,  // one load more than anybody waits for
  StoreOutside,   // the output map is one row taller than the output
  NoRelease,      // one release is forgotten
};

class RingMatmul {
 public:
  static constexpr unsigned tile_m = 128, tile_k = 64, threads = 384;

  // c (m x n) = a (m x k) b (n x k)^T; k a multiple of 8, n of 8; tile_n is 64, 128 or 256.
  RingMatmul(unsigned m, unsigned n, unsigned k, unsigned tile_n, Bug bug = Bug::None);

  vgpu::Report run(const vgpu::Options& options);
  // Every element of c, compared with a plain loop; inputs are small integers.
  bool correct() const;

  unsigned stages = 4;
  unsigned ctas = 2;

 private:
  struct Ring {
    unsigned slot = 0, parity = 0, steps = 0;
    void step(unsigned stages);
  };

  unsigned a_bytes() const { return tile_m * tile_k * 2; }
  unsigned stage_bytes() const { return a_bytes() + tile_n_ * tile_k * 2; }
  unsigned staging_at() const { return stages * stage_bytes(); }
  unsigned barriers_at() const { return staging_at() + 4 * staging_bytes; }
  SharedAddress full(unsigned stage) const;
  SharedAddress empty(unsigned stage) const;
  unsigned tiles_n() const { return (n_ + tile_n_ - 1) / tile_n_; }
  unsigned tiles() const { return (m_ + tile_m - 1) / tile_m * tiles_n(); }
  unsigned k_tiles() const { return (k_ + tile_k - 1) / tile_k; }

  void thread_body() const;
  void load_tiles() const;
  void load_k_tile(const Ring& ring, unsigned tile, unsigned k) const;
  template <unsigned n>
  void multiply_tiles(unsigned group) const;
  template <unsigned n>
  void multiply_stage(float (&sum)[n / 2], unsigned group, unsigned slot, bool accumulate) const;
  template <unsigned n>
  void store_tile(const float (&sum)[n / 2], unsigned group, unsigned tile, unsigned& chunks) const;

  static constexpr unsigned staging_bytes = 64 * 64 * 2;
  unsigned m_, n_, k_, tile_n_;
  Bug bug_;
  std::vector<std::uint16_t> a_, b_, c_;
  TensorMap a_map_, b_map_, c_map_;
};

}  // namespace tw::test
