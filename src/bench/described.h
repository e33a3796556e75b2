// Launches of described families: of single kernels, and as a caller of the library gets them.
#pragma once

#include <memory>
#include <vector>

#include "src/bench/own.h"
#include "src/bench/planned.h"
#include "src/dispatch/products.h"

namespace tw::bench {

// One problem for each set of buffers, checked once.
template <class Family>
struct Problems {
  explicit Problems(std::vector<typename Family::Problem> given)
      : given(std::move(given)), checked(this->given.size()) {
    for (std::size_t i = 0; i < checked.size() && status.is_good(); ++i) {
      status = check(checked[i], Family::description, &this->given[i]);
    }
  }
  Problems(const Problems&) = delete;

  std::vector<typename Family::Problem> given;
  std::vector<Checked> checked;
  Status status = Status::good();
};

// A launch of that choice, with a workspace of its own.
template <class Family>
Candidate candidate_of(const LaunchChoice<Instance>& choice,
                       const std::shared_ptr<const Problems<Family>>& problems) {
  std::size_t bytes = 0;
  Status status = problems->status;
  if (status.is_good()) {
    status = choice.instance->workspace(bytes, problems->checked[0], {choice.order});
  }
  if (!status.is_good()) return {name_of(choice), [status](int, void*) { return status; }};
  const auto memory = std::make_shared<DeviceWorkspace>(bytes);
  return {name_of(choice), [choice, problems, memory](int set, void* stream) {
            return choice.instance->launch(problems->checked[static_cast<std::size_t>(set)],
                                           {choice.order, memory->workspace, {}}, stream);
          }};
}

// Where nothing narrows the choice: a plan of the C interface, run as a user would. Otherwise all
// launches of the wanted instances or of a shortlist; `all` are those that there are.
template <class Family>
Status described_candidates(std::vector<Candidate>& found, const OwnRequest& request,
                            const std::shared_ptr<const Problems<Family>>& problems,
                            const std::vector<LaunchChoice<Instance>>& all) {
  found.clear();
  if (request.asks_the_library()) {
    found.push_back(planned(problems->given));
    return Status::good();
  }
  for (const LaunchChoice<Instance>& choice : request.wanted(all)) {
    found.push_back(candidate_of(choice, problems));
  }
  if (!found.empty()) return Status::good();
  return Status::refused(std::string("No instance of ") + Family::description.name +
                         " that takes the problem has a name with '" + request.instances + "'.");
}

}  // namespace tw::bench
