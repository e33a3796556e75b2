#include "src/dispatch/measured.h"

#include <cstring>

namespace tw {

const MeasuredLaunch* measured_launch(const MatmulProblem& problem,
                                      const DispatchRequest& request) {
  if (!request.by_table || request.device == nullptr || request.instance != nullptr ||
      problem.batch != 1 || problem.a.type != problem.b.type || problem.a.major != Major::K ||
      problem.b.major != Major::K) {
    return nullptr;
  }
  for (const MeasuredLaunch& known : measured_launches()) {
    if (known.m == problem.m && known.n == problem.n && known.k == problem.k &&
        std::strcmp(known.type, name_of(problem.a.type)) == 0 &&
        std::strncmp(request.device, known.device, std::strlen(known.device)) == 0) {
      return &known;
    }
  }
  return nullptr;
}

}  // namespace tw
