// Where the build has no virtual GPU nothing is recorded: its runs are refused before they begin.
#include "vgpu/timeline.h"

namespace tw::vgpu {

Recording::Recording(Timeline&) : outer_(nullptr) {}
Recording::~Recording() = default;

}  // namespace tw::vgpu
