// must not compile: vectorize: facts.pitch_multiple is no multiple of the vector
#include "tilewright/layout/text.h"
#include "tilewright/layout/tile_tensor.h"

using namespace tw;

auto wrong(float* data, unsigned m, unsigned n, long pitch_bytes) {
  TileTensor<float, Space::Global, "(_,_):(1@1,1)"_layout> tensor(data, {m, n}, {pitch_bytes});
  return tensor.vectorize<Facts{16, 4, 4}, 1, 4>();
}
