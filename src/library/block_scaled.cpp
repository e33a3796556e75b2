// Products of elements with block scales, behind the functions of tilewright.h.
#include "src/library/described.h"
#include "tilewright/family/block_scaled/family.h"

namespace tw {

std::span<const Instance> block_scaled_instances();

namespace library {
namespace {

const Registered registered_block_scaled(
    Calls<DescribedFamily<BlockScaledFamily, block_scaled_instances>>::table);

}  // namespace
}  // namespace library

}  // namespace tw
