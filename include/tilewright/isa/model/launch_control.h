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

}  // namespace tw::model
#endif
