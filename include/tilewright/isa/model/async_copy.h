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

#if defined(__HIP__)
// Recipes that copy so are parsed with others; no kernel of these targets calls them.
namespace tw::model {

__attribute__((device)) void cp_async(SharedAddress, const void*, unsigned, unsigned);
__attribute__((device)) void cp_async_commit_group();
__attribute__((device)) void cp_async_wait_group(unsigned);
__attribute__((device)) void cp_async_mbarrier_arrive_noinc(SharedAddress);

}  // namespace tw::model
#endif
