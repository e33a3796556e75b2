// Quantisers to the block-scaled formats, behind the functions of tilewright.h.
#include "src/library/described.h"
#include "tilewright/family/block_quantise/family.h"

namespace tw {

std::span<const Instance> block_quantise_instances();

namespace library {
namespace {

const Registered registered_block_quantise(
    Calls<DescribedFamily<BlockQuantiseFamily, block_quantise_instances>>::table);

}  // namespace
}  // namespace library

}  // namespace tw
