// The headers below isa/ compile as AMD device code, without a HIP installation, and the same
// constant expressions hold.
#include "tilewright/layout/algebra.h"
#include "tilewright/layout/tile_tensor.h"
#include "tilewright/number/convert.h"
#include "tilewright/number/mx.h"
#include "tilewright/number/nvfp4.h"
#include "tilewright/number/packed.h"

using namespace tw;

static_assert(Bf16(1.5f).bits == 0x3fc0);
static_assert(composition("(6,2):(8,2)"_layout, "(4,3):(3,1)"_layout) ==
              "((2,2),3):((24,2),8)"_layout);

using Tile = TileTensor<const Bf16, Space::Global, "(_,_):(1@1,1)"_layout>;  // (m,k)

extern "C" __attribute__((global)) void widen(float* to, const Bf16* from, unsigned pitch_bytes) {
  const Tile tile(from, {64, 64}, {pitch_bytes});
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  to[lane] = static_cast<float>(tile.load(lane, 3u));
}
