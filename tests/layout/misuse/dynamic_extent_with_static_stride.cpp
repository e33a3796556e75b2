// must not compile: A dynamic extent has static stride 1; any other stride must be a pitch.
#include "tilewright/layout/text.h"
#include "tilewright/layout/tile_tensor.h"

using namespace tw;

TileTensor<float, Space::Global, "(_,4096):(4096,1)"_layout> wrong(nullptr, {8}, {});
