// Names for the virtual GPU's reports; on a real GPU they compile to nothing.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

#if !TW_MODELLED
TW_DEVICE void describe_role(const char*) {}
template <auto role>
TW_DEVICE void describe_role() {}
TW_DEVICE void describe_barrier(SharedAddress, const char*, unsigned) {}
TW_DEVICE void describe_shared(SharedAddress, unsigned, const char*, unsigned) {}
TW_DEVICE void describe_step(unsigned) {}
TW_DEVICE void describe_no_step() {}
TW_DEVICE void fragment_access(const void*, unsigned) {}
#else
using model::describe_barrier;
using model::describe_no_step;
using model::describe_role;
using model::describe_shared;
using model::describe_step;
using model::fragment_access;
template <auto role>
void describe_role() {
  model::describe_role(role.name);
}
#endif

}  // namespace tw::isa
