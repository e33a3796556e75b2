// Steps that compute one value of others, as the forms of many types need them.
#pragma once

#include <string>
#include <type_traits>

#include "vgpu/ptx/run/form_table.h"

namespace tw::vgpu::ptx {

// The letter of a type in Form::operands.
template <class T>
std::string letter() {
  return std::to_string(sizeof(T));
}

// An Operation has a static function of() of one, two or three values.
template <class T, class Operation>
void unary(Frame& frame, const Step& step) {
  put<T>(frame, step.slots[0], Operation::of(get<T>(frame, step.slots[1])));
}
template <class T, class Operation>
void binary(Frame& frame, const Step& step) {
  put<T>(frame, step.slots[0],
         Operation::of(get<T>(frame, step.slots[1]), get<T>(frame, step.slots[2])));
}
template <class T, class Operation>
void ternary(Frame& frame, const Step& step) {
  put<T>(frame, step.slots[0],
         Operation::of(get<T>(frame, step.slots[1]), get<T>(frame, step.slots[2]),
                       get<T>(frame, step.slots[3])));
}

struct And {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class T, class Operation>
void add_unary(FormTable& table, const std::string& name) {
  table.add(name, letter<T>() + letter<T>(), unary<T, Operation>);
}
template <class T, class Operation>
void add_binary(FormTable& table, const std::string& name) {
  table.add(name, letter<T>() + letter<T>() + letter<T>(), binary<T, Operation>);
}
template <class T, class Operation>
void add_ternary(FormTable& table, const std::string& name) {
  table.add(name, letter<T>() + letter<T>() + letter<T>() + letter<T>(), ternary<T, Operation>);
}

// A value of a type, to tell a generic function which one is meant.
template <class T>
struct Type {
  using type = T;
};

// Calls visit(".u16", Type<std::uint16_t>()) and so on.
template <class Visit>
void each_integer(const Visit& visit) {
  visit(".u16", Type<std::uint16_t>());
  visit(".s16", Type<std::int16_t>());
  visit(".u32", Type<std::uint32_t>());
  visit(".s32", Type<std::int32_t>());
  visit(".u64", Type<std::uint64_t>());
  visit(".s64", Type<std::int64_t>());
}
template <class Visit>
void each_bits(const Visit& visit) {
  visit(".b16", Type<std::uint16_t>());
  visit(".b32", Type<std::uint32_t>());
  visit(".b64", Type<std::uint64_t>());
}

}  // namespace tw::vgpu::ptx
