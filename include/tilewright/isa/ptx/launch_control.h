// Cluster launch control: a running cluster takes over the work of one that has not started. The
// grid has one CTA per tile; the launcher starts as many clusters as fit, and these ask for more.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/launch_control.h"

namespace tw::isa {

// clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128
//     [response], [barrier];  PTX 8.6, sm_100. Counts 16 bytes on the barrier when the response is
// there. Must not be asked again once the CTA has seen that nothing was left. Threads that have
// read an earlier response must have executed fence.proxy.async and handed the place back; from
// another CTA by fence_async_release_cluster and mbarrier_arrive_relaxed_cluster, after which who
// asks executes fence_async_acquire_cluster.
TW_DEVICE void try_cancel(SharedAddress response, SharedAddress barrier) {
#if defined(__CUDACC__)
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], "
      "[%1];" ::"r"(response),
      "r"(barrier)
      : "memory");
#else
  model::try_cancel(response, barrier, false);
#endif
}

// The same with .multicast::cluster::all (sm_100a): the response and its 16 bytes go to every CTA
// of the cluster, to the same offsets.
TW_DEVICE void try_cancel_multicast(SharedAddress response, SharedAddress barrier) {
#if defined(__CUDACC__)
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
      ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(response),
      "r"(barrier)
      : "memory");
#else
  model::try_cancel(response, barrier, true);
#endif
}

// ld.shared.v2.b64 {w0, w1}, [response];  PTX 1.0
TW_DEVICE CancelResponse load_cancel_response(SharedAddress response) {
#if defined(__CUDACC__)
  CancelResponse loaded;
  asm volatile("ld.shared.v2.b64 {%0, %1}, [%2];"
               : "=l"(loaded.words[0]), "=l"(loaded.words[1])
               : "r"(response)
               : "memory");
  return loaded;
#else
  return model::load_cancel_response(response);
#endif
}

// clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, response;  PTX 8.6, sm_100. True: a
// cluster was taken over.
TW_DEVICE bool query_is_canceled(const CancelResponse& response) {
#if defined(__CUDACC__)
  unsigned canceled;
  asm volatile(
      "{\n.reg .b128 r;\n.reg .pred p;\nmov.b128 r, {%1, %2};\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n"
      "selp.u32 %0, 1, 0, p;\n}"
      : "=r"(canceled)
      : "l"(response.words[0]), "l"(response.words[1]));
  return canceled != 0;
#else
  return model::query_is_canceled(response);
#endif
}

// clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 d, response;  PTX 8.6, sm_100.
// Only of a response that took a cluster: the grid index of its first CTA.
TW_DEVICE unsigned query_first_cta_x(const CancelResponse& response) {
#if defined(__CUDACC__)
  unsigned index;
  asm volatile(
      "{\n.reg .b128 r;\nmov.b128 r, {%1, %2};\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, r;\n}"
      : "=r"(index)
      : "l"(response.words[0]), "l"(response.words[1]));
  return index;
#else
  return model::query_first_cta_x(response);
#endif
}

// mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [barrier], bytes;  PTX 8.0,
//     sm_90. One CTA may so announce what a multicast brings to all of them.
TW_DEVICE void mbarrier_arrive_expect_tx_cluster(SharedAddress barrier, unsigned bytes) {
#if defined(__CUDACC__)
  asm volatile(
      "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(bytes)
      : "memory");
#else
  model::mbarrier_arrive_expect_tx_cluster(barrier, bytes);
#endif
}

// mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [barrier], bytes;  PTX 8.0,
//     sm_90. The same where nothing that this thread has done is published: it saves the
// device-wide memory barrier that .release.cluster costs.
TW_DEVICE void mbarrier_arrive_expect_tx_relaxed_cluster(SharedAddress barrier, unsigned bytes) {
#if defined(__CUDACC__)
  asm volatile(
      "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(bytes)
      : "memory");
#else
  model::mbarrier_arrive_expect_tx_relaxed_cluster(barrier, bytes);
#endif
}

// fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;  PTX 8.6, sm_90. What this
// thread has read and written in its CTA's shared memory comes before its next relaxed arrival, for
// who asks the launcher behind fence_async_acquire_cluster.
TW_DEVICE void fence_async_release_cluster() {
#if defined(__CUDACC__)
  asm volatile(
      "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::: "memory");
#else
  model::fence_async_release_cluster();
#endif
}

// mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [mapped];  PTX 8.0, sm_90. Publishes what
// fence_async_release_cluster came behind, and nothing else.
TW_DEVICE void mbarrier_arrive_relaxed_cluster(SharedAddress mapped) {
#if defined(__CUDACC__)
  asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapped)
               : "memory");
#else
  model::mbarrier_arrive_relaxed_cluster(mapped);
#endif
}

// fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;  PTX 8.6, sm_90. After
// a wait with mbarrier_try_wait_parity_cluster: what its arrivals were fenced for comes before what
// this thread asks of the async proxy next.
TW_DEVICE void fence_async_acquire_cluster() {
#if defined(__CUDACC__)
  asm volatile(
      "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
#else
  model::fence_async_acquire_cluster();
#endif
}

}  // namespace tw::isa
