// A file appears whole or not at all.
#pragma once

#include <string>

#include "tilewright/base/status.h"

namespace tw::cli {

// Makes no folders. What is no file, as /dev/stdout, is written to as it is.
Status save(const std::string& path, const std::string& text);

}  // namespace tw::cli
