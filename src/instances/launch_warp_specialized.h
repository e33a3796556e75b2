// How kernels of the warp-specialised skeleton are launched, for launcher.h. A Launch tells the
// product that a problem is, to all kernels or to one (product or product<Kernel>), and plans for
// kernels: it stands in family/NAME/launch.h.
#pragma once

#include <cstdint>

#include "src/instances/instance.h"
#include "tilewright/kernel/warp_specialized.h"
#include "tilewright/launch/contracts.h"
#include "tilewright/launch/device_kernel.h"
#include "tilewright/launch/product.h"
#include "tilewright/pipeline/ring_traces.h"

namespace tw {

template <class Launch, class Kernel>
struct LaunchWarpSpecialized {
  using Skeleton = kernel::WarpSpecialized<Kernel>;
  using Params = typename Skeleton::Params;
  static constexpr const TargetFacts& target = Kernel::Target::target;
  static constexpr KernelNeeds needs = needs_of<Kernel, Skeleton>;
  static constexpr const void* facts = &Launch::template facts<Kernel>;
  static constexpr bool records = Kernel::Trace::records;
  static constexpr unsigned tracks = Skeleton::tracks * tracks_of_role<typename Kernel::Trace>;
  // A matmul says how its sums are split.
  static constexpr bool is_product = requires { Kernel::config.split; };
  // On the virtual GPU counters of one kind lie in the workspace and those of the other apart, as
  // those of captured calls do.
  static constexpr bool has_counters_apart = !is_product;

  static KernelProblem take(const Checked& problem) {
    if constexpr (is_product) {
      return {problem, product_of(Kernel::config.tiling, product(problem))};
    } else {
      return {problem, {}};
    }
  }
  // Asks the Launch, or makes a plan that nobody launches, with whatever workspace it needs.
  static Status takes(const KernelProblem& problem, const LaunchOrder& order) {
    static_assert(plans_grids<Launch, Kernel, Params>());
    if (problem.checked.is_empty()) return Status::good();
    if constexpr (requires { Launch::template supports<Kernel>(problem, order); }) {
      return Launch::template supports<Kernel>(problem, order);
    }
    Params params;
    MatmulGrid grid;
    return Launch::template plan<Kernel>(params, grid, problem, order, 1, {nullptr, SIZE_MAX},
                                         EncodeNothing{});
  }
  // Groups of rows may be none, whatever D has.
  static bool is_empty(const KernelProblem& problem) {
    const MatmulProblem& made = problem.product;
    return problem.checked.is_empty() ||
           (is_product && (made.m == 0 || made.n == 0 || made.batch == 0));
  }
  // Where it depends on how many clusters run at once, ask_clusters(clusters) says that.
  template <class AskClusters>
  static Status workspace(std::size_t& bytes, const KernelProblem& problem,
                          const LaunchOrder& order, const AskClusters& ask_clusters) {
    if constexpr (is_product) {
      unsigned clusters = 0;
      if (Status asked = ask_clusters(clusters); !asked.is_good()) return asked;
      bytes = workspace_bytes<Kernel>(problem.product, order, clusters);
    } else {
      static_assert(asks_for_workspace<Launch, Kernel>());
      bytes = Launch::template workspace<Kernel>(problem, order);
    }
    return Status::good();
  }
  template <class Encode>
  static Status plan(Params& params, unsigned& ctas, const KernelProblem& problem,
                     const LaunchOptions& options, unsigned max_clusters, const Encode& encode) {
    MatmulGrid grid = {};
    const Status planned = Launch::template plan<Kernel>(params, grid, problem, options.order,
                                                         max_clusters, options.workspace, encode);
    ctas = grid.ctas;
    return planned;
  }
  // The CTAs of a cluster, where the launch says how many; 0: the kernel does.
  static unsigned cluster_of(const Params& params) {
    if constexpr (requires { requires Kernel::parts_in_cluster; }) {
      return static_cast<unsigned>(params.schedule.parts);
    }
    return 0;
  }
  // Parts that finish shares of a sum wait for each other.
  static bool runs_at_once(const Params& params) {
    if constexpr (is_product) {
      if constexpr (Kernel::config.finishers != 1) return params.reduction.finishers > 1;
    }
    return false;
  }

 private:
  static MatmulProblem product(const Checked& problem) {
    if constexpr (requires { Launch::template product<Kernel>(problem); }) {
      return Launch::template product<Kernel>(problem);
    } else {
      return Launch::product(problem);
    }
  }
};

}  // namespace tw
