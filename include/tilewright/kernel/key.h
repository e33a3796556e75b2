// The right to iterate over work tiles and k-tiles. Only skeletons can make one.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw::kernel {

class Key {
  template <class Kernel>
  friend class WarpSpecialized;
  TW_DEVICE Key() {}
};

}  // namespace tw::kernel
