// The types that products take, each with the one that their sums usually have.
#pragma once

#include <utility>

#include "tilewright/number/element_type.h"

namespace tw::tests {

inline constexpr std::pair<ElementType, ElementType> types_and_sums[] = {
    {ElementType::Bf16, ElementType::Bf16}, {ElementType::Fp16, ElementType::Fp16},
    {ElementType::Tf32, ElementType::Fp32}, {ElementType::E4m3, ElementType::Bf16},
    {ElementType::E5m2, ElementType::Bf16}, {ElementType::S8, ElementType::S32}};

}  // namespace tw::tests
