// What the virtual GPU must implement for cluster launch control.
#pragma once

#include <cstdint>

#include "tilewright/isa/model.h"

namespace tw {

// What try_cancel writes to shared memory: opaque, to be asked by the query_ functions.
struct alignas(16) CancelResponse {
  std::uint64_t words[2];
};

}  // namespace tw

#if TW_MODELLED
namespace tw::model {

// Takes one cluster that has not started away from the grid, if there is one.
void try_cancel(SharedAddress response, SharedAddress barrier, bool multicast);
CancelResponse load_cancel_response(SharedAddress response);
bool query_is_canceled(const CancelResponse& response);
unsigned query_first_cta_x(const CancelResponse& response);

// An arrival of cluster scope: a peer learns what the thread itself has done, too.
void mbarrier_arrive_expect_tx_cluster(SharedAddress barrier, unsigned bytes);

// An arrival tells of what the thread did before its last fence_async_release_cluster, to who has
// waited for it and executes fence_async_acquire_cluster.
void mbarrier_arrive_expect_tx_relaxed_cluster(SharedAddress barrier, unsigned bytes);
void mbarrier_arrive_relaxed_cluster(SharedAddress barrier);
void fence_async_release_cluster();
void fence_async_acquire_cluster();

}  // namespace tw::model
#endif
