// Types of block scales, as values: what a kernel or a problem names.
#pragma once

namespace tw {

// Ue8m0: powers of two, of the MX formats. Ue4m3: of NVFP4.
enum class ScaleType : unsigned { Ue8m0, Ue4m3 };

// So many elements of k share a scale.
constexpr unsigned block_of(ScaleType type) { return type == ScaleType::Ue8m0 ? 32 : 16; }

constexpr const char* name_of(ScaleType type) {
  return type == ScaleType::Ue8m0 ? "ue8m0" : "ue4m3";
}

}  // namespace tw
