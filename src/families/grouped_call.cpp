// Products in groups, behind the functions of tilewright.h.
#include "src/dispatch/products.h"
#include "src/library/described.h"
#include "tilewright/family/grouped/family.h"

namespace tw {

std::span<const Instance> grouped_instances();

namespace library {
namespace {

// Only the device knows the groups: a launch is priced as if they had equal shares of the rows.
MatmulProblem in_equal_shares(const Checked& problem) {
  MatmulProblem batch = problem.product();
  batch.batch = problem.as<tw_grouped_problem>().matmul.batch;
  if (batch.batch > 0) batch.m = (batch.m + batch.batch - 1) / batch.batch;
  return batch;
}

const Registered registered_grouped(
    Calls<DispatchedFamily<GroupedFamily, grouped_instances,
                           choose_product<grouped_instances, in_equal_shares>>>::table);

}  // namespace
}  // namespace library

}  // namespace tw
