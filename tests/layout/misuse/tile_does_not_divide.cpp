// must not compile: tile: the tile does not divide the tensor
#include "tilewright/layout/text.h"
#include "tilewright/layout/tile_tensor.h"

using namespace tw;

auto wrong(float* data) {
  return TileTensor<float, Space::Shared, "(100,64):(64,1)"_layout>(data).tile<32, 32>(0, 0);
}
