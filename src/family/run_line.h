// A described problem as a line of ./tw run.
#pragma once

#include <string>

#include "tilewright/family/description.h"

namespace tw {

// "--scale-rows" for the field scale_rows.
std::string option_of(const char* field);

// " --m 3 --k 5 ...": a column_stride other than 1 says that columns are contiguous.
std::string problem_words(const Description& description, const void* problem);

}  // namespace tw
