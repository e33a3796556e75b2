// What the driver knows of the instance, as instance.h.
#pragma once

#include "src/family/instance.h"

namespace tw::planted {

extern const Instance instance;

}  // namespace tw::planted
