// What block-scaled elements stand for, behind the functions of tilewright.h.
#include "src/library/described.h"
#include "tilewright/family/block_dequantise/family.h"

namespace tw {

std::span<const Instance> block_dequantise_instances();

namespace library {
namespace {

const Registered registered_block_dequantise(
    Calls<DescribedFamily<BlockDequantiseFamily, block_dequantise_instances>>::table);

}  // namespace
}  // namespace library

}  // namespace tw
