// The machine's dice: small, fast, and the same on every platform, so that a seed replays a run.
#pragma once

#include <cstdint>

namespace tw::vgpu {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // SplitMix64 (Steele, Lea, Flood 2014): any seed is good, zero included.
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Uniform in [0, count), for counts far below 2^32.
  std::uint64_t below(std::uint64_t count) { return ((next() >> 32) * count) >> 32; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace tw::vgpu
