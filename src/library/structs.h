// The structs that a caller hands over: their sizes, and options. What is wrong is thrown.
#pragma once

#include <cstddef>

#include "tilewright.h"

namespace tw::library {

// `initialiser` is the function that sets a struct's size.
void check_size(const char* name, const void* given, std::size_t size, std::size_t expected,
                const char* initialiser);
template <class Struct>
void check_struct(const char* name, const Struct* given, const char* initialiser) {
  check_size(name, given, given == nullptr ? 0 : given->size, sizeof(Struct), initialiser);
}

// Null options mean the usual ones.
tw_options usual_options();
void set_usual(tw_options& options);  // every byte, also those between fields
tw_options checked_options(const tw_options* options);

}  // namespace tw::library
