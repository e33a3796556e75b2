// fmt's functions, compiled into the library, so that its users need no libfmt.so of our version.
// The build keeps what nothing here calls (-fkeep-inline-functions); exports.map hides all of it.
#define FMT_HEADER_ONLY
#include <fmt/format.h>
