// The words of the command line for what a problem is made of.
#pragma once

#include <optional>
#include <string>

#include "src/instances/shape.h"

namespace tw {

inline constexpr ElementType element_types[] = {
    ElementType::Bf16, ElementType::Fp16, ElementType::Fp32, ElementType::Tf32,
    ElementType::E4m3, ElementType::E5m2, ElementType::S8,   ElementType::S32,
    ElementType::E2m1, ElementType::E2m3, ElementType::E3m2};
inline constexpr Activation activations[] = {Activation::Relu, Activation::Gelu, Activation::Silu,
                                             Activation::Tanh, Activation::Clamp};

constexpr const char* name_of(Activation activation) {
  switch (activation) {
    case Activation::Relu: return "relu";
    case Activation::Gelu: return "gelu";
    case Activation::Silu: return "silu";
    case Activation::Tanh: return "tanh";
    case Activation::Clamp: return "clamp";
    default: return "none";
  }
}

constexpr const char* name_of(Fill fill) {
  switch (fill) {
    case Fill::Integers: return "integers";
    case Fill::Normal: return "normal";
    default: return "position";
  }
}

inline std::optional<Fill> fill_of(const std::string& name) {
  for (const Fill fill : {Fill::Integers, Fill::Normal, Fill::Position}) {
    if (name == name_of(fill)) return fill;
  }
  return std::nullopt;
}

// A part that an epilogue has or has not.
struct EpilogueSwitch {
  const char* name;
  bool EpilogueShape::*present;
};
inline constexpr EpilogueSwitch epilogue_switches[] = {
    {"bias", &EpilogueShape::column_bias},
    {"row-bias", &EpilogueShape::row_bias},
    {"column-scale", &EpilogueShape::column_scale},
    {"row-scale", &EpilogueShape::row_scale},
    {"gate", &EpilogueShape::gated},
    {"auxiliary", &EpilogueShape::auxiliary},
    {"amax", &EpilogueShape::amax},
};

// "tn": A and B in BLAS's letters.
inline std::string layout_name(Major a, Major b) {
  return std::string(a == Major::K ? "t" : "n") + (b == Major::K ? "n" : "t");
}

// What tells one instance from another, in the words of the command line.
struct InstanceWords {
  std::string types;      // "bf16 x bf16 -> bf16"
  std::string layout;     // "tn", or "any"
  std::string tile;       // "128x256"
  std::string cluster;    // "2x1"
  std::string consumers;  // "cooperative"
  std::string sums;       // "whole", "split-k", "cluster" or "stream-k"
  std::string schedule;   // "static" or "dynamic"
};

std::optional<ElementType> element_type_of(const std::string& name);
// "bias,gelu": the parts that are words, and not numbers, on the command line.
std::string epilogue_words(const EpilogueShape& epilogue);
// " --epilogue bias ...": all of it.
std::string epilogue_options(const EpilogueShape& epilogue);
// " --m 3 --n 8 --k 9 ...": all of a shape but types and layouts.
std::string shape_words(const MatmulShape& shape);

}  // namespace tw
