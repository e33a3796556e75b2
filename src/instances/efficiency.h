// How near a kernel comes to what its SMs could do: the second half of its price.
#pragma once

namespace tw {

inline constexpr double usual_efficiency = 0.7;  // where nobody measured

}  // namespace tw
