// What the virtual GPU must implement for isa/ptx/cp_async.h.
#pragma once

#include "tilewright/isa/model.h"

#if TW_MODELLED
namespace tw::model {

// The destination takes `source_bytes` from the source and zeros up to `bytes`.
void cp_async(SharedAddress destination, const void* source, unsigned bytes, unsigned source_bytes);
void cp_async_commit_group();
void cp_async_wait_group(unsigned pending);
void cp_async_mbarrier_arrive_noinc(SharedAddress barrier);

}  // namespace tw::model
#endif
