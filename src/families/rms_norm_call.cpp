// Rows over the root of their mean square, behind the functions of tilewright.h.
#include "src/library/described.h"
#include "tilewright/family/rms_norm/family.h"

namespace tw {

std::span<const Instance> rms_norm_instances();

namespace library {
namespace {

const Registered registered_rms_norm(
    Calls<DescribedFamily<RmsNormFamily, rms_norm_instances>>::table);

}  // namespace
}  // namespace library

}  // namespace tw
