// A shared library of the caller's whose function is measured in the place of a family's peer.
#pragma once

#include <string>

#include "tilewright/base/status.h"

namespace tw::bench {

// Finds tw_peer_FAMILY in the file, which stays open; a sentence where there is no such file or no
// such function. docs/groups.md names them.
Status find_peer_function(void*& function, const std::string& path, const std::string& family);

}  // namespace tw::bench
