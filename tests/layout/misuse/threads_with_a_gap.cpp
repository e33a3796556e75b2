// must not compile: distribute: the thread layout must number its threads from 0, each once
#include "tilewright/layout/text.h"
#include "tilewright/layout/tile_tensor.h"

using namespace tw;

auto wrong(float* data, unsigned thread) {
  TileTensor<float, Space::Shared, "(32,32):(32,1)"_layout> tensor(data);
  return tensor.distribute<"(8,4):(8,1)"_layout>(thread);
}
