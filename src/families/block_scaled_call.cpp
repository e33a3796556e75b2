// Products of elements with block scales, behind the functions of tilewright.h.
#include "src/dispatch/products.h"
#include "src/library/described.h"
#include "tilewright/family/block_scaled/family.h"

namespace tw {

std::span<const Instance> block_scaled_instances();

namespace library {
namespace {

const Registered registered_block_scaled(
    Calls<DispatchedFamily<BlockScaledFamily, block_scaled_instances,
                           choose_product<block_scaled_instances>>>::table);

}  // namespace
}  // namespace library

}  // namespace tw
