// The file that ./tw tune writes and TW_TUNING names.
#pragma once

#include <string>

#include "src/dispatch/measured.h"
#include "tilewright/base/status.h"

namespace tw {

Status read_table(MeasuredTable& table, const std::string& path);

// Whether a table, read from a path, is of this version and device: of another, kernels of the same
// name may be others, or slower.
Status check_table(const MeasuredTable& table, const std::string& path, const std::string& version,
                   const std::string& device);

}  // namespace tw
