// A described problem as a line of ./tw run.
#pragma once

#include <string>
#include <vector>

#include "src/instances/shape.h"
#include "tilewright/launch/description.h"
#include "tilewright/launch/kernel_problem.h"

namespace tw {

// "--scale-rows" for the field scale_rows.
std::string option_of(const char* field);

// The values of each ListField of the description, in its order.
using Lists = std::vector<std::vector<std::int64_t>>;

// The program that repeats a line: "./tw", unless one with families of its own says otherwise.
const std::string& program_name();
void set_program_name(const std::string& name);

// "3,0,5", or "none".
std::string list_words(const std::vector<std::int64_t>& list);

// Which parts an epilogue has, of those that are not null.
EpilogueShape shape_of(const tw_epilogue& epilogue);

// " --split-k 3 --raster n": what is not usual.
std::string order_words(const LaunchOrder& order);

// " --m 3 --k 5 ...": a column_stride other than 1 says that columns are contiguous.
std::string problem_words(const Description& description, const void* problem, const Lists& lists);

}  // namespace tw
