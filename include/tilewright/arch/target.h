// The table of targets. Their names stand here alone.
#pragma once

namespace tw {

// Capabilities are major * 10 + minor; the last one is excluded.
struct TargetFacts {
  const char* name;
  int capability_begin;  // of the devices that run its kernels
  int capability_end;
  int own_end;     // of those that have no later target of their own
  unsigned lanes;  // of a warp
};

namespace target {
inline constexpr TargetFacts sm80 = {"sm80", 80, 100, 90, 32};
inline constexpr TargetFacts sm90a = {"sm90a", 90, 91, 91, 32};
inline constexpr TargetFacts sm100a = {"sm100a", 100, 101, 101, 32};
}  // namespace target

inline constexpr TargetFacts targets[] = {target::sm80, target::sm90a, target::sm100a};
// What a request means that names none.
inline constexpr const char* usual_target = target::sm90a.name;

}  // namespace tw
