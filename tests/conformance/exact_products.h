// The products of a program by the hardware's arithmetic, straight from its input.
#pragma once

#include "tests/conformance/program.h"

namespace tw::conformance {

bool is_product(const Program& program);
std::vector<unsigned char> exact_products(const Program& program);

}  // namespace tw::conformance
