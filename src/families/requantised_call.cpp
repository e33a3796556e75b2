// FP8 with scales of blocks and a quantised D, behind the functions of tilewright.h.
#include "src/dispatch/products.h"
#include "src/library/described.h"
#include "tilewright/family/requantised/family.h"

namespace tw {

std::span<const Instance> requantised_instances();

namespace library {
namespace {

const Registered registered_requantised(
    Calls<DispatchedFamily<RequantisedFamily, requantised_instances,
                           choose_product<requantised_instances>>>::table);

}  // namespace
}  // namespace library

}  // namespace tw
