// Which compiled kernel computes a problem, and in which order: candidates, a cost model, and a
// table of measured exceptions.
#pragma once

#include <string>
#include <vector>

#include "src/dispatch/launch_options.h"
#include "src/matmul/instance.h"

namespace tw {

struct Choice {
  const MatmulInstance* instance = nullptr;
  MatmulOrder order;
  double microseconds = 0;  // by the cost model
  bool measured = false;    // by the table of exceptions
};

// Why a candidate was not taken.
struct Rejection {
  const MatmulInstance* instance;
  std::string sentence;
};

// Every launch that computes the problem, none twice, with its expected cost.
std::vector<Choice> candidates(const MatmulProblem& problem, const DispatchRequest& request,
                               std::vector<Rejection>* rejections);

// The table's candidate, or else the cheapest; where there is none, a sentence with what the
// nearest ones lack. Addresses matter only through their alignment. `rejections` may be null.
Status choose(Choice& choice, const MatmulProblem& problem, const DispatchRequest& request,
              std::vector<Rejection>* rejections);

}  // namespace tw
