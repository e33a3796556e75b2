// Scales of blocks, from the C interface's to the kernels'.
#pragma once

#include "src/library/apart.h"
#include "src/library/problem_key.h"
#include "tilewright/host/blockwise_problem.h"

namespace tw::library {

// "scales of A" of so many matrices. What is wrong is thrown.
ScaleTensor scales_of(const std::string& name, const tw_scales& given, std::int64_t batch);

void add_scales(Touched& touched, const ScaleTensor& a, const ScaleTensor& b, std::int64_t batch);

// As the words of problem_key.h.
template <class Visit>
constexpr void scale_words(const char* name, const tw_scales& scales, const Visit& visit) {
  visit("The number of rows", name, scales.rows);
  visit("The number of blocks", name, scales.k_blocks);
  visit("The row_stride", name, scales.row_stride);
  visit("The k_stride", name, scales.k_stride);
  visit("The batch_stride", name, scales.batch_stride);
  visit("The alignment", name, alignment_word(scales.data));
}

}  // namespace tw::library
