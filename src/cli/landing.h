// The landing policies of the virtual GPU by name.
#pragma once

#include <map>
#include <string>

#include "vgpu/machine/machine.h"

namespace tw::cli {

inline const std::map<std::string, vgpu::Landing> landings = {
    {"eager", vgpu::Landing::Eager},
    {"lazy", vgpu::Landing::Lazy},
    {"random", vgpu::Landing::Random},
    {"adversarial", vgpu::Landing::Adversarial},
};

}  // namespace tw::cli
