// A compiled kernel of a described family; include/tilewright/family/NAME/instances.txt lists them.
#pragma once

#include <span>

#include "tilewright/host/checked.h"

namespace tw::vgpu {
struct Options;
struct Report;
}  // namespace tw::vgpu

namespace tw {

struct Instance {
  const char* name;
  const char* target;  // "sm90a"
  const void* config;  // of the family's own type
  // Why this kernel cannot take a problem; good if it can.
  Status (*supports)(const Checked&);
  // Null where the build has no CUDA toolkit. `stream` is a cudaStream_t. Nothing is allocated,
  // nothing waited for.
  Status (*launch)(const Checked&, void* stream);
  // Null where the build has no virtual GPU.
  Status (*simulate)(const Checked&, const vgpu::Options&, vgpu::Report&);
};

}  // namespace tw
