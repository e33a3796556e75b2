// Arrays in numpy's files (.npy, version 1 to 3).
#pragma once

#include <string>

#include "vgpu/ptx/use/array.h"

namespace tw::ptx_tool {

struct NpyArray {
  std::string type;  // "float32"; "uint16" may hold bf16
  std::vector<std::uint64_t> extents;
  std::vector<std::byte> bytes;
};

// Throws Refusal.
NpyArray read_npy(const std::string& path);

// The text of such a file. Types that numpy has not are unsigned integers of their width.
std::string npy_text(const vgpu::ptx::Array& array);

}  // namespace tw::ptx_tool
