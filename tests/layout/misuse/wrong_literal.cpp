// must not compile: layout text: extents and strides are nested differently
#include "tilewright/layout/text.h"

constexpr tw::Layout wrong = tw::operator""_layout("(2,3):1", 7);
