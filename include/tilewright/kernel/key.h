// The right to iterate over work tiles and k-tiles. Only skeletons can make one.
#pragma once

namespace tw::kernel {

class Key {
  template <class Kernel>
  friend class WarpSpecialized;
  Key() = default;
};

}  // namespace tw::kernel
