// The table of targets. Their names stand here alone.
#pragma once

namespace tw {

// Capabilities are major * 10 + minor, or the number in the name of an AMD device (gfx942); the
// last one is excluded.
struct TargetFacts {
  const char* name;
  int capability_begin;  // devices from here on run its kernels
  int capability_end;
  int own_end;          // devices from here on have a later target of their own
  unsigned lanes = 32;  // threads of a warp
  int ptx_begin = 0;    // devices from here on have no image and compile its kernels' PTX
  int ptx_end = 0;

  constexpr bool by_ptx(int capability) const {
    return capability >= ptx_begin && capability < ptx_end;
  }
};

namespace target {
inline constexpr TargetFacts sm80 = {"sm80", 80, 100, 90, 32, 120, 130};
inline constexpr TargetFacts sm90a = {"sm90a", 90, 91, 91};
// Its kernels are compiled for the family of 10.0 and 10.3, but for those of integers.
inline constexpr TargetFacts sm100a = {"sm100a", 100, 104, 104};
inline constexpr TargetFacts gfx942 = {"gfx942", 942, 943, 943, 64};
inline constexpr TargetFacts gfx950 = {"gfx950", 950, 951, 951, 64};
}  // namespace target

inline constexpr TargetFacts targets[] = {target::sm80, target::sm90a, target::sm100a,
                                          target::gfx942, target::gfx950};
// A request that names no target means this one.
inline constexpr const char* usual_target = target::sm90a.name;

}  // namespace tw
