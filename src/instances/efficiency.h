// How near a kernel comes to what its SMs could do: the second half of its price.
#pragma once

namespace tw {

// What a launch finds before it: a kernel of ours, which it may overlap, or somebody else's.
enum class Situation : unsigned { Following, Amid };

inline constexpr double usual_efficiency = 0.7;  // where nobody measured

// Measured in each situation, by tilewright_fit; 0: not there.
struct Efficiency {
  double following = 0, amid = 0;
  constexpr double in(Situation situation) const {
    if (situation == Situation::Amid && amid > 0) return amid;
    return following > 0 ? following : usual_efficiency;
  }
};

}  // namespace tw
