// Addresses as PTX kernels see them. Global memory and constants are where the host has
// them. Shared memory has the window of the machine, and local memory one of each thread; generic
// addresses of these two say so in their highest bits, where no host has memory.
#pragma once

#include <cstdint>

#include "vgpu/ptx/run/frame.h"

namespace tw::vgpu::ptx {

constexpr std::uint64_t generic_shared = std::uint64_t{1} << 60;
constexpr std::uint64_t generic_local = std::uint64_t{2} << 60;
constexpr std::uint64_t generic_mask = std::uint64_t{0xf} << 60;
constexpr std::uint64_t local_begin = 1024;  // so that 0 is never an address
// Parameters have addresses that 32 bits hold, until cvta makes them generic.
constexpr std::uint64_t parameter_begin = 0x7f00'0000;

// Each acts for the running thread, judged by the machine; where an address is wrong, the run ends.
void load_global(void* value, std::uint64_t address, unsigned bytes);
void store_global(std::uint64_t address, const void* value, unsigned bytes);
void load_parameter(const Frame& frame, void* value, std::uint64_t address, unsigned bytes);
void load_local(const Frame& frame, void* value, std::uint64_t address, unsigned bytes);
void store_local(Frame& frame, std::uint64_t address, const void* value, unsigned bytes);
void load_generic(const Frame& frame, void* value, std::uint64_t address, unsigned bytes);
void store_generic(Frame& frame, std::uint64_t address, const void* value, unsigned bytes);

// The generic address of a parameter's.
std::uint64_t generic_parameter(const Frame& frame, std::uint64_t address);

// The tensor map at a generic address: among the parameters, or in global memory.
const TensorMap* tensor_map_at(const Frame& frame, std::uint64_t address);

}  // namespace tw::vgpu::ptx
