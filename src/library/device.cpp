#include "src/library/device.h"

#include <fmt/format.h>

#include "src/library/failure.h"
#include "tilewright/launch/device_kernel.h"
#include "tilewright/launch/targets.h"

namespace tw::library {

const Gpu& gpu_for(const char* target) {
  static const bool takes_hip = !cuda().is_there() && hip().is_there();
  const TargetFacts* const named = target == nullptr ? nullptr : target_named(target);
  const bool names_hip = named != nullptr && is_of_hip(*named) && hip().is_there();
  return takes_hip || names_hip ? hip() : cuda();
}

void KnownDevices::check(int number) {
  if (number < most) return;
  throw Failure{TW_CUDA, fmt::format("Device {} is beyond the {} that are known.", number, most)};
}

}  // namespace tw::library
