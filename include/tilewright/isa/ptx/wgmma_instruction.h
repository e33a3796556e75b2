// The generated headers specialise these: one instruction each, in inline assembly.
#pragma once

#include <cstdint>

#include "tilewright/number/element_type.h"

namespace tw::isa {

// A and B from shared memory through matrix descriptors.
template <ElementType a, ElementType b, unsigned n>
struct WgmmaInstruction;

// A from registers: four pairs of 16 bits per thread; B from shared memory.
template <ElementType type, unsigned n>
struct WgmmaRegisterInstruction;

}  // namespace tw::isa
