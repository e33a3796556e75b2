// Schedules of the virtual GPU for random problems: every landing, few multiprocessors.
#pragma once

#include "vgpu/machine/machine.h"

namespace tw::tests {

inline vgpu::Options schedule(std::uint64_t seed, unsigned cluster = 1) {
  constexpr vgpu::Landing policies[] = {vgpu::Landing::Eager, vgpu::Landing::Lazy,
                                        vgpu::Landing::Random, vgpu::Landing::Adversarial};
  vgpu::Options options;
  options.landing = policies[seed % 4];
  options.seed = seed;
  options.sm_count = cluster * static_cast<unsigned>(1 + seed % 3);
  return options;
}

}  // namespace tw::tests
