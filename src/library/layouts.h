// How the structs and enums of tilewright.h lie in memory: tables that tools/make_layouts.py makes
// of the header.
#pragma once

#include <cstddef>
#include <span>

namespace tw::library {

struct MemberLayout {
  const char* name;
  const char* type;  // "int64_t", "float", "tw_matrix", ...; "address"; "text" of const char*
  std::size_t offset;
  std::size_t bytes;
};
struct StructLayout {
  const char* name;
  std::size_t bytes;
  std::span<const MemberLayout> members;
};
struct Enumerator {
  const char* name;  // "bf16"
  int value;
};
struct EnumLayout {
  const char* name;
  std::span<const Enumerator> values;
};

std::span<const StructLayout> struct_layouts();
std::span<const EnumLayout> enum_layouts();

}  // namespace tw::library
