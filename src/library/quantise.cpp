// Quantisers for FP8 with scales of blocks, behind the functions of tilewright.h.
#include "src/library/described.h"
#include "tilewright/family/quantise/family.h"

namespace tw {

std::span<const Instance> quantise_instances();

namespace library {
namespace {

const Registered registered_quantise(
    Calls<DescribedFamily<QuantiseFamily, quantise_instances>>::table);

}  // namespace
}  // namespace library

}  // namespace tw
