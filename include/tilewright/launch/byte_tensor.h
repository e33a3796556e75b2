// Tensors of bytes without strides, in descriptions: blocks of scales.
#pragma once

#include "tilewright/launch/description.h"

namespace tw {

// The member at `path` is their address, `title` and `one` as TensorField has them. `extents` takes
// the problem.
template <auto path, class ExtentsOf>
constexpr TensorField bytes(const char* name, TensorField::Flow flow, const char* title,
                            const char* one, ExtentsOf extents) {
  using Problem = detail::ProblemAt<path>;
  TensorField field = {name,
                       title,
                       one,
                       flow,
                       TensorField::Lines::Rows,
                       ElementType::S8,
                       detail::by_address(extents),
                       [](const void* problem) -> tw_matrix {
                         const void* const data = static_cast<const Problem*>(problem)->*path;
                         return {const_cast<void*>(data), 0, 1, 0, TW_S8};
                       },
                       [](void* problem, const tw_matrix& given) {
                         static_cast<Problem*>(problem)->*path = given.data;
                       },
                       nullptr};
  field.dense = true;
  return field;
}

}  // namespace tw
