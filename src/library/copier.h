// Who copies operands into lines of better alignment, for kernels that need it. Families bring
// this: the library may lack the one that does.
#pragma once

#include "tilewright/launch/checked.h"

namespace tw::vgpu {
struct Report;
}

namespace tw::library {

struct Copier {
  // The lines of `from` into those of `to`, as many and as long, by a kernel of the target; or why
  // not.
  Status (*serves)(const TensorLines& to, const TensorLines& from, const char* target);
  Status (*launch)(const TensorLines& to, const TensorLines& from, const char* target,
                   void* stream);
  Status (*simulate)(const TensorLines& to, const TensorLines& from, const char* target,
                     vgpu::Report& report);
};

// Null where there is none.
const Copier*& copier();

struct RegisteredCopier {
  explicit RegisteredCopier(const Copier& one) { copier() = &one; }
};

}  // namespace tw::library
