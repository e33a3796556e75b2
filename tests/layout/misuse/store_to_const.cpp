// must not compile: store: the elements are const
#include "tilewright/layout/text.h"
#include "tilewright/layout/tile_tensor.h"

using namespace tw;

void wrong(const float* data) {
  TileTensor<const float, Space::Global, "8:1"_layout>(data).store(1.0f, 0);
}
