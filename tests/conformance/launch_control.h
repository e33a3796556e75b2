// Cluster launch control: running clusters take over the work of those that have not started. More
// CTAs are launched than fit a GPU at once; the work of each is done, whoever does it.
#pragma once

#include "tests/conformance/cluster_memory.h"
#include "tilewright/isa/ptx/launch_control.h"

namespace tw::conformance {

template <bool in_clusters>
struct TakeOver {
  using Params = conformance::Params;
  static constexpr unsigned threads = 32;
  static constexpr unsigned response_at = 0;
  static constexpr unsigned full_at = 64;  // full: arrives who asks + 16 bytes; publishes the
                                           // response; waited by all threads of the CTA
  static constexpr unsigned empty_at =
      72;  // empty, of rank 0: arrives every thread of the cluster;
           // publishes that it has read; waited by who asks
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index(), rank = isa::cluster_rank();
    const unsigned size = in_clusters ? params.count : 1;
    const SharedAddress full = shared_at(full_at), empty = shared_at(empty_at);
    if (thread == 0) {
      isa::mbarrier_init(full, 1);
      isa::mbarrier_init(empty, threads * size);
      isa::fence_mbarrier_init();
    }
    meet_cluster();
    unsigned work = isa::cta_index();
    for (unsigned round = 0;; ++round) {
      put_output(params, work * threads + thread, pattern(work * threads + thread));
      if (thread == 0 && rank == 0) {
        if (round > 0) hand_over(empty, (round - 1) % 2);
        ask(full, size);
      }
      wait(full, round % 2);
      const CancelResponse response = isa::load_cancel_response(shared_at(response_at));
      const bool more = isa::query_is_canceled(response);
      if (more) work = isa::query_first_cta_x(response) + rank;
      if constexpr (in_clusters) {
        isa::fence_async_release_cluster();
        isa::mbarrier_arrive_relaxed_cluster(isa::mapa(empty, 0));
      } else {
        isa::fence_proxy_async();
        isa::mbarrier_arrive(empty);
      }
      if (!more) break;
    }
    meet_cluster();  // nobody leaves while another may signal it
  }

 private:
  static TW_DEVICE void hand_over(SharedAddress empty, unsigned parity) {
    if constexpr (in_clusters) {
      while (!isa::mbarrier_try_wait_parity_cluster(empty, parity)) {
      }
      isa::fence_async_acquire_cluster();
    } else {
      wait(empty, parity);
    }
  }
  static TW_DEVICE void ask(SharedAddress full, unsigned size) {
    if constexpr (in_clusters) {
      for (unsigned rank = 0; rank < size; ++rank) {
        isa::mbarrier_arrive_expect_tx_relaxed_cluster(isa::mapa(full, rank), 16);
      }
      isa::try_cancel_multicast(shared_at(response_at), full);
    } else {
      isa::mbarrier_arrive_expect_tx(full, 16);
      isa::try_cancel(shared_at(response_at), full);
    }
  }
};

inline std::vector<Program> list_launch_control() {
  std::vector<Program> programs;
  const auto add = [&](std::string name, Body body, unsigned size) {
    // With so much shared memory a multiprocessor holds one CTA.
    constexpr unsigned ctas = 320;
    constexpr std::size_t shared_bytes = 200 * 1024;
    Program program;
    program.name = std::move(name);
    program.body = body;
    program.grid = {ctas, size, 32, shared_bytes};
    program.output_bytes = std::size_t{ctas} * 32 * 4;
    program.params.count = size;
    programs.push_back(program);
  };
  add("launch_control", body_of<TakeOver<false>>(), 1);
  add("launch_control_cluster_2", body_of<TakeOver<true>>(), 2);
  add("launch_control_cluster_4", body_of<TakeOver<true>>(), 4);
  return programs;
}

}  // namespace tw::conformance
