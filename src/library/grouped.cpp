// Products in groups, behind the functions of tilewright.h.
#include "src/dispatch/grouped.h"

#include "src/library/described.h"
#include "tilewright/family/grouped/family.h"

namespace tw::library {

namespace {

const Registered registered_grouped(
    Calls<DispatchedFamily<GroupedFamily, grouped_instances, choose_grouped>>::table);

}  // namespace

}  // namespace tw::library
