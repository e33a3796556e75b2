// The whole layout algebra. All of it is ordinary constexpr code: the same functions run in
// constant expressions, at run time and behind `./tw layout`.
#pragma once

#include "tilewright/layout/common.h"
#include "tilewright/layout/divide.h"
#include "tilewright/layout/inverse.h"
#include "tilewright/layout/product.h"
#include "tilewright/layout/recast.h"
#include "tilewright/layout/text.h"
