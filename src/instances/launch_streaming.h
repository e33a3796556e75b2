// How kernels of the streaming skeleton are launched, for launcher.h. A Launch says what its
// kernels support and plans for them: family/NAME/launch.h has it.
#pragma once

#include "src/instances/instance.h"
#include "tilewright/kernel/streaming.h"
#include "tilewright/launch/contracts.h"
#include "tilewright/launch/device_kernel.h"

namespace tw {

template <class Launch, class Kernel>
struct LaunchStreaming {
  using Skeleton = kernel::Streaming<Kernel>;
  using Params = typename Skeleton::Params;
  static constexpr const TargetFacts& target = Kernel::Target::target;
  static constexpr KernelNeeds needs = {1,
                                        false,
                                        target.capability_begin,
                                        target.capability_end,
                                        Skeleton::threads,
                                        sizeof(typename Skeleton::Storage),
                                        Skeleton::dependent_launch,
                                        target.lanes,
                                        0,
                                        target.ptx_begin,
                                        target.ptx_end};
  static constexpr const void* facts = &Launch::template facts<Kernel>;
  static constexpr bool records = Kernel::Trace::records;
  static constexpr unsigned tracks = 1;  // a CTA has one in a timeline
  static constexpr bool has_counters_apart = false;
  // A Launch may ask for memory through which CTAs tell each other something: they run at once.
  static constexpr bool tells = requires(const KernelProblem& problem) {
    Launch::template workspace<Kernel>(problem, 1u);
  };

  // The product is for prices: plans ask the problem.
  static KernelProblem take(const Checked& problem) {
    if constexpr (requires { Launch::template product<Kernel>(problem); }) {
      return {problem,
              product_of(Kernel::config.tiling, Launch::template product<Kernel>(problem))};
    } else {
      return {problem, {}};
    }
  }
  static Status takes(const KernelProblem& problem, const LaunchOrder&) {
    static_assert(plans_streams<Launch, Kernel, Params>());
    return Launch::template supports<Kernel>(problem);
  }
  // An empty problem is refused, too, where the kernel does not compute others of its kind.
  static bool is_empty(const KernelProblem& problem) {
    return problem.checked.is_empty() && Launch::template supports<Kernel>(problem).is_good();
  }
  template <class AskClusters>
  static Status workspace(std::size_t& bytes, const KernelProblem& problem, const LaunchOrder&,
                          const AskClusters& ask_clusters) {
    bytes = 0;
    if constexpr (tells) {
      unsigned max_ctas = 0;
      if (Status asked = ask_clusters(max_ctas); !asked.is_good()) return asked;
      bytes = Launch::template workspace<Kernel>(problem, max_ctas);
    }
    return Status::good();
  }
  template <class Encode>
  static Status plan(Params& params, unsigned& ctas, const KernelProblem& problem,
                     const LaunchOptions& options, unsigned max_ctas, const Encode&) {
    Status status = Launch::template supports<Kernel>(problem);
    if (!status.is_good()) return status;
    if constexpr (tells) {
      Launch::template plan<Kernel>(params, ctas, problem, max_ctas, options.workspace);
    } else {
      Launch::template plan<Kernel>(params, ctas, problem, max_ctas);
    }
    return status;
  }
  static bool runs_at_once(const Params& params) {
    if constexpr (tells) return params.stream.runs_at_once;
    return false;
  }
};

}  // namespace tw
