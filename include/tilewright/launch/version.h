// The version of these headers, in letters.
#pragma once

#include "tilewright.h"

namespace tw {

#define TW_TEXT_OF(token) #token
#define TW_TEXT(macro) TW_TEXT_OF(macro)
// "0.6.0"
inline constexpr const char* header_version =
    TW_TEXT(TW_VERSION_MAJOR) "." TW_TEXT(TW_VERSION_MINOR) "." TW_TEXT(TW_VERSION_PATCH);

}  // namespace tw
