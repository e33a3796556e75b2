// must not compile: composition: the right operand straddles two left leaves
#include "tilewright/layout/algebra.h"

constexpr tw::Layout wrong =
    tw::composition(tw::parse_layout("(6,2):(8,2)"), tw::parse_layout("4:4"));
