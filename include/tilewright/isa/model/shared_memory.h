// What the virtual GPU must implement for isa/ptx/shared_memory.h and isa/ptx/cluster_memory.h.
#pragma once

#include "tilewright/isa/model.h"

#if TW_MODELLED
namespace tw::model {

// Own CTA; `bytes` is 2, 4, 8 or 16, and the address is aligned to it.
void load_shared(void* value, SharedAddress address, unsigned bytes);
void store_shared(SharedAddress address, const void* value, unsigned bytes);

// Any CTA of the cluster.
void load_cluster(void* value, SharedAddress address, unsigned bytes);
void store_cluster(SharedAddress address, const void* value, unsigned bytes);
// Asynchronous: the bytes land later, and are counted on a barrier of the same CTA.
void store_async(SharedAddress address, const void* value, unsigned bytes, SharedAddress barrier);

// Release and acquire in the scope of the cluster.
void cluster_arrive_release();
void mbarrier_arrive_release_cluster(SharedAddress barrier);
bool mbarrier_try_wait_parity_cluster(SharedAddress barrier, unsigned parity);

}  // namespace tw::model
#endif
