// clusterlaunchcontrol.try_cancel between issue and landing.
#pragma once

namespace tw::vgpu {

void discard_cancel(void* operation);

}  // namespace tw::vgpu
