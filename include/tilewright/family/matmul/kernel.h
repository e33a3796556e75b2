// The kernels of matmul: their recipe is that of all products.
#pragma once

#include "tilewright/family/matmul.h"
