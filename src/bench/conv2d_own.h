// Our side of a measured convolution.
#pragma once

#include <stdexcept>
#include <vector>

#include "src/bench/conv2d_buffers.h"
#include "src/bench/own.h"
#include "src/dispatch/conv2d.h"

namespace tw::bench {

// A convolution in buffers, which suites have checked.
class StatedConv2d {
 public:
  StatedConv2d(const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue, int set = 0)
      : problem_(buffers.problem(set, epilogue)) {
    const Status status = check(checked_, Conv2dFamily::description, &problem_);
    if (!status.is_good()) throw std::runtime_error(status.sentence());
  }
  StatedConv2d(const StatedConv2d&) = delete;
  const Checked& checked() const { return checked_; }

 private:
  tw_conv2d_problem problem_;
  Checked checked_;
};
inline Status choose(LaunchChoice<Instance>& choice, const StatedConv2d& problem,
                     const DispatchRequest& request,
                     std::vector<LaunchRejection<Instance>>* rejections) {
  return choose_conv2d(choice, problem.checked(), request, rejections);
}
inline std::vector<LaunchChoice<Instance>> candidates(
    const StatedConv2d& problem, const DispatchRequest& request,
    std::vector<LaunchRejection<Instance>>* rejections) {
  return conv2d_candidates(problem.checked(), request, rejections);
}

// A launch of that choice, with a workspace of its own.
Candidate candidate_of(const LaunchChoice<Instance>& choice, const Conv2dBuffers& buffers,
                       const Conv2dEpilogue& epilogue);

// As own_candidates: a plan of the C interface, or all launches of the wanted instances or of a
// shortlist.
Status own_convolutions(std::vector<Candidate>& candidates, const OwnRequest& request,
                        const Conv2dBuffers& buffers, const Conv2dEpilogue& epilogue);

}  // namespace tw::bench
