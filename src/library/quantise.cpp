// The functions of tilewright.h that quantise for FP8 with scales of blocks.
#include "src/library/described.h"
#include "tilewright/family/quantise/family.h"

namespace tw {

std::span<const Instance> quantise_instances();

namespace library {

using QuantiseCalls = Calls<DescribedFamily<QuantiseFamily, quantise_instances>>;

}  // namespace library

}  // namespace tw

TW_DEFINE_CALLS(quantise, tw::library::QuantiseCalls)

extern "C" void tw_quantise_init(tw_quantise_problem* problem, tw_quantise_options* options) {
  tw_matmul_init(nullptr, options);
  if (problem != nullptr) tw::library::initialise(tw::QuantiseFamily::description, problem);
}
