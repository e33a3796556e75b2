// Convolutions, behind the functions of tilewright.h.
#include "src/dispatch/conv2d.h"

#include "src/library/described.h"
#include "tilewright/family/conv2d/family.h"

namespace tw::library {

namespace {

struct Convolutions : DispatchedFamily<Conv2dFamily, conv2d_instances, choose_conv2d> {
  static std::string call(const Checked& problem) {
    return call_of(problem.as<tw_conv2d_problem>());
  }
};
const Registered registered_conv2d(Calls<Convolutions>::table);

}  // namespace

}  // namespace tw::library
