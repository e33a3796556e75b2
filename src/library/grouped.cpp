// The functions of tilewright.h for products in groups.
#include "src/dispatch/grouped.h"

#include "src/library/described.h"
#include "tilewright/family/grouped/family.h"

namespace tw::library {

using GroupedCalls = Calls<DispatchedFamily<GroupedFamily, grouped_instances, choose_grouped>>;

}  // namespace tw::library

TW_DEFINE_CALLS(grouped, tw::library::GroupedCalls)

extern "C" void tw_grouped_init(tw_grouped_problem* problem, tw_grouped_options* options) {
  tw_matmul_init(nullptr, options);
  if (problem != nullptr) tw::library::initialise(tw::GroupedFamily::description, problem);
}
