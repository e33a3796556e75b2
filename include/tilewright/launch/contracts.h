// What the launch of a family (family/NAME/launch.h) supplies for each of its kernels.
#pragma once

#include "tilewright/launch/kernel_problem.h"
#include "tilewright/launch/tensor_map.h"

namespace tw {

// A plan that nobody launches needs no tensor maps.
struct EncodeNothing {
  template <class Box>
  Status operator()(TensorMap&, const Box&) const {
    return Status::good();
  }
};

// Plans launches of a family's kernels.
template <class Launch, class Kernel>
consteval bool is_launch() {
  static_assert(
      requires { Launch::template facts<Kernel>; },
      "A launch must have 'template <class Kernel> facts': what a choice of kernels asks of one "
      "that is compiled.");
  return true;
}

// The same of kernels of the warp-specialised skeleton.
template <class Launch, class Kernel, class Params>
consteval bool plans_grids() {
  static_assert(
      requires(Params & params, MatmulGrid & grid, const KernelProblem& problem,
               const LaunchOrder& order, const Workspace& workspace) {
        Status(Launch::template plan<Kernel>(params, grid, problem, order, 1u, workspace,
                                             EncodeNothing{}));
      },
      "A launch must have 'plan<Kernel>(params, grid, problem, order, max_clusters, workspace, "
      "encode)': the arguments and the grid of a launch, or a sentence that refuses it.");
  return is_launch<Launch, Kernel>();
}

// The same of kernels of the streaming skeleton.
template <class Launch, class Kernel, class Params>
consteval bool plans_streams() {
  static_assert(
      requires(const Checked& problem) { Status(Launch::template supports<Kernel>(problem)); },
      "A launch must have 'supports<Kernel>(problem)' where the kernel streams: good, or a "
      "sentence that refuses the problem.");
  static_assert(
      requires(Params & params, unsigned& ctas, const Checked& problem) {
        Launch::template plan<Kernel>(params, ctas, problem, 1u);
      },
      "A launch must have 'plan<Kernel>(params, ctas, problem, max_ctas)' where the kernel "
      "streams: the arguments and the grid of a launch.");
  return is_launch<Launch, Kernel>();
}

// The same where a kernel is no product, and asks for memory of its own.
template <class Launch, class Kernel>
consteval bool asks_for_workspace() {
  static_assert(
      requires(const Checked& problem, const LaunchOrder& order) {
        Launch::template workspace<Kernel>(problem, order);
      },
      "A launch must have 'workspace<Kernel>(problem, order)' where the kernel is no product: "
      "bytes "
      "of memory that it asks for.");
  return true;
}

}  // namespace tw
