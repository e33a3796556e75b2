/* A product, as a caller states it: tw_matmul_problem, which other problems contain. */
#ifndef TILEWRIGHT_FAMILY_MATMUL_PROBLEM_H
#define TILEWRIGHT_FAMILY_MATMUL_PROBLEM_H

#include "tilewright/types.h"

#endif /* TILEWRIGHT_FAMILY_MATMUL_PROBLEM_H */
