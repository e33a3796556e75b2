// FP8 with scales of blocks, behind the functions of tilewright.h.
#include "src/dispatch/products.h"
#include "src/library/described.h"
#include "tilewright/family/blockwise/family.h"

namespace tw {

std::span<const Instance> blockwise_instances();

namespace library {
namespace {

const Registered registered_blockwise(
    Calls<DispatchedFamily<BlockwiseFamily, blockwise_instances,
                           choose_product<blockwise_instances>>>::table);

}  // namespace
}  // namespace library

}  // namespace tw
