// Rotary embedding and the cache's new rows, behind the functions of tilewright.h.
#include "src/library/described.h"
#include "tilewright/family/rotary/family.h"

namespace tw {

std::span<const Instance> rotary_instances();

namespace library {
namespace {

const Registered registered_rotary(Calls<DescribedFamily<RotaryFamily, rotary_instances>>::table);

}  // namespace
}  // namespace library

}  // namespace tw
