// The one attention of a planted bug: as instance.cpp.
#include "tests/planted/attention_instance.h"

#include PLANTED_HEADER
#include "tests/programs/attention_virtual.h"

namespace tw::planted {

struct Planted {
  static constexpr AttentionConfig config = {PLANTED_CONFIG};
};

const int columns = Planted::config.tiling.n;
const bool in_parts = Planted::config.part_blocks != 0;

vgpu::Report simulate(programs::AttentionCase& data, unsigned sms, const vgpu::Options& options) {
  return programs::run_attention_on<Attention<PLANTED_PAGE, Planted>>(data, sms, options);
}

}  // namespace tw::planted
