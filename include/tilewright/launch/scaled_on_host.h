// Quantisers to the block-scaled formats on the host, and back, from their definitions
// (number/mx.h, number/nvfp4.h): packed elements, and scales as the tensor core takes them, or in
// rows.
#pragma once

#include <algorithm>
#include <string>

#include "tilewright/launch/stated_check.h"
#include "tilewright/number/convert.h"
#include "tilewright/number/mx.h"
#include "tilewright/number/nvfp4.h"
#include "tilewright/number/packed.h"
#include "tilewright/number/scale_blocks.h"

namespace tw {

// Source and elements are (m,k), row-major; pitches count elements. Scales of ue8m0 follow `rule`;
// those of ue4m3 are of NVFP4, whose elements are e2m1, beside the scale of the whole tensor
// (nvfp4_tensor_scale).
struct BlockQuantiseProblem {
  std::int64_t m = 0;
  std::int64_t k = 0;
  const void* source = nullptr;
  std::int64_t source_pitch = 0;
  ElementType source_type = ElementType::Bf16;
  void* elements = nullptr;
  std::int64_t elements_pitch = 0;
  ElementType element_type = ElementType::E4m3;
  std::uint8_t* scales = nullptr;  // scale_bytes() of them
  ScaleType scale_type = ScaleType::Ue8m0;
  MxScale rule = MxScale::floor;
  float tensor_scale = 1;
  bool scales_in_rows = false;  // else in blocks

  ScaleExtent extent() const { return ScaleExtent::of(m, k, scale_type); }
  std::int64_t scale_bytes() const {
    return scales_in_rows ? extent().rows * extent().scales : extent().bytes();
  }
  std::uint8_t& scale_at(std::int64_t row, std::int64_t scale) const {
    return scales[scales_in_rows ? row * extent().scales + scale : extent().place(row, scale)];
  }
};

namespace detail {

// Checks elements and scales, which is all of the problem that dequantising reads.
inline Status check_quantised(const BlockQuantiseProblem& problem) {
  const unsigned bits = bits_in(problem.element_type);
  if (bits > 8 || is_integer(problem.element_type)) {
    return Status::refused(std::string("The elements have type ") + name_of(problem.element_type) +
                           ", but must be e4m3, e5m2, e2m3, e3m2 or e2m1.");
  }
  if (problem.scale_type == ScaleType::Ue4m3 && problem.element_type != ElementType::E2m1) {
    return Status::refused(std::string("The elements have type ") + name_of(problem.element_type) +
                           ", but those with scales of ue4m3 must be e2m1.");
  }
  if (problem.m < 0 || problem.k < 0) {
    return Status::refused("m = " + std::to_string(problem.m) +
                           " and k = " + std::to_string(problem.k) + " must not be negative.");
  }
  if (problem.m == 0 || problem.k == 0) return Status::good();
  if (problem.elements_pitch * bits % 8 != 0) {
    return Status::refused("The pitch of the elements is " +
                           std::to_string(problem.elements_pitch) + " of " + std::to_string(bits) +
                           " bits, but lines must begin at whole bytes.");
  }
  if (problem.scales == nullptr) return Status::refused("The address of the scales is null.");
  return check_matrix("the elements", problem.elements, problem.m, problem.k,
                      problem.elements_pitch, 1, 0, problem.element_type);
}

}  // namespace detail

inline Status check(const BlockQuantiseProblem& problem) {
  if (Status status = detail::check_quantised(problem); !status.is_good()) return status;
  if (!detail::is_side_type(problem.source_type)) {
    return Status::refused(std::string("The source has type ") + name_of(problem.source_type) +
                           ", but must be bf16, fp16 or fp32.");
  }
  if (problem.m == 0 || problem.k == 0) return Status::good();
  return detail::check_matrix("the source", problem.source, problem.m, problem.k,
                              problem.source_pitch, 1, 0, problem.source_type);
}

namespace detail {

// One line of elements in memory.
template <class Element>
class ElementLine {
 public:
  ElementLine(const BlockQuantiseProblem& problem, std::int64_t row)
      : bytes_(static_cast<std::uint8_t*>(problem.elements) +
               row * problem.elements_pitch * bits_of<Element> / 8) {}
  void set(std::int64_t index, Element value) const {
    if constexpr (is_subbyte<Element>)
      store_packed<Element>(bytes_, static_cast<std::size_t>(index), value);
    else
      bytes_[index] = value.bits;
  }
  Element get(std::int64_t index) const {
    if constexpr (is_subbyte<Element>)
      return load_packed<Element>(bytes_, static_cast<std::size_t>(index));
    else
      return Element::from_bits(bytes_[index]);
  }

 private:
  std::uint8_t* bytes_;
};

template <class Element>
std::uint8_t quantise_one_block(std::span<Element> elements, std::span<const float> values,
                                const BlockQuantiseProblem& problem) {
  if constexpr (std::is_same_v<Element, E2m1>) {
    if (problem.scale_type == ScaleType::Ue4m3)
      return quantise_nvfp4_block(elements, values, problem.tensor_scale).bits;
  }
  return quantise_mx_block<Element>(elements, values, problem.rule).bits;
}

template <class Source, class Element>
void quantise_rows(const BlockQuantiseProblem& problem) {
  const std::int64_t block = block_of(problem.scale_type);
  std::fill_n(problem.scales, problem.scale_bytes(), std::uint8_t{0});
  for (std::int64_t row = 0; row < problem.m; ++row) {
    const Source* const source =
        static_cast<const Source*>(problem.source) + row * problem.source_pitch;
    const ElementLine<Element> line(problem, row);
    for (std::int64_t first = 0; first < problem.k; first += block) {
      const auto count = static_cast<std::size_t>(std::min(block, problem.k - first));
      float values[32];
      Element elements[32];
      for (std::size_t i = 0; i < count; ++i) {
        values[i] = to_float(source[first + static_cast<std::int64_t>(i)]);
      }
      problem.scale_at(row, first / block) = quantise_one_block<Element>(
          std::span(elements, count), std::span<const float>(values, count), problem);
      for (std::size_t i = 0; i < count; ++i) {
        line.set(first + static_cast<std::int64_t>(i), elements[i]);
      }
    }
  }
}

template <class Element>
void dequantise_rows(float* values, std::int64_t pitch, const BlockQuantiseProblem& problem) {
  const bool is_mx = problem.scale_type == ScaleType::Ue8m0;
  for (std::int64_t row = 0; row < problem.m; ++row) {
    const ElementLine<Element> line(problem, row);
    for (std::int64_t i = 0; i < problem.k; ++i) {
      const std::uint8_t bits = problem.scale_at(row, i / block_of(problem.scale_type));
      const float scale = is_mx ? static_cast<float>(Ue8m0::from_bits(bits))
                                : problem.tensor_scale * static_cast<float>(Ue4m3::from_bits(bits));
      values[row * pitch + i] = scale * static_cast<float>(line.get(i));
    }
  }
}

// Calls function<Element>().
template <class Function>
void with_element(ElementType type, const Function& function) {
  switch (type) {
    case ElementType::E4m3: return function.template operator()<E4m3>();
    case ElementType::E5m2: return function.template operator()<E5m2>();
    case ElementType::E2m3: return function.template operator()<E2m3>();
    case ElementType::E3m2: return function.template operator()<E3m2>();
    default: return function.template operator()<E2m1>();
  }
}

}  // namespace detail

// All memory is the host's.
inline Status quantise_on_host(const BlockQuantiseProblem& problem) {
  if (Status status = check(problem); !status.is_good()) return status;
  detail::with_element(problem.element_type, [&]<class Element>() {
    switch (problem.source_type) {
      case ElementType::Bf16: return detail::quantise_rows<Bf16, Element>(problem);
      case ElementType::Fp16: return detail::quantise_rows<Fp16, Element>(problem);
      default: return detail::quantise_rows<float, Element>(problem);
    }
  });
  return Status::good();
}

// Writes the numbers that elements and scales stand for, `pitch` floats from one row to the next.
inline Status dequantise_on_host(float* values, std::int64_t pitch,
                                 const BlockQuantiseProblem& problem) {
  if (Status status = detail::check_quantised(problem); !status.is_good()) return status;
  detail::with_element(problem.element_type, [&]<class Element>() {
    detail::dequantise_rows<Element>(values, pitch, problem);
  });
  return Status::good();
}

}  // namespace tw
