// What a run wrote, beside what it should have written.
#pragma once

#include <string>

#include "src/ptx_tool/npy.h"

namespace tw::ptx_tool {

struct Expectation {
  std::string array;
  std::string file;
  double bound = 0;  // largest difference; 0: the bytes are equal
  NpyArray wanted;
};

// "C=FILE.npy" or "C=FILE.npy,bound=1e-3". Throws Refusal.
Expectation read_expectation(const std::string& words);

// Refuses what cannot be compared.
void check(const Expectation& expectation, const vgpu::ptx::Array& array);

// A sentence about the first element that differs; empty: none does.
std::string difference(const Expectation& expectation, const vgpu::ptx::Array& array);

}  // namespace tw::ptx_tool
