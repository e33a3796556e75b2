// How long launches of a described family take, without peers.
#pragma once

#include <string>

namespace tw::bench {

bool is_described(const std::string& family);
// argv[1] is the family.
int measure_alone(int argc, char** argv);

}  // namespace tw::bench
