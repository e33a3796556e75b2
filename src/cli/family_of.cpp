#include "src/cli/family_of.h"

#include <fmt/format.h>

#include "src/conv2d/instance.h"
#include "src/matmul/instance.h"
#include "src/run/trials.h"

namespace tw::cli {

std::string family_of(const std::string& instance) {
  const auto has = [&](const auto& instances) {
    for (const auto& one : instances) {
      if (instance == one.name) return true;
    }
    return false;
  };
  if (has(matmul_instances())) return "matmul";
  // family conv2d: begin
  if (has(conv2d_instances())) return "conv2d";
  // family conv2d: end
  for (const Trial* trial : all_trials()) {
    if (has(trial->instances())) return trial->description->name;
  }
  return "";
}

std::string no_instance(const std::string& instance, const std::string& family,
                        const std::string& usual) {
  const std::string other = family_of(instance);
  if (other.empty() || other == family) return usual;
  return fmt::format("'{0}' is an instance of {1}, not of {2}: ./tw run {1} --instance {0}.",
                     instance, other, family);
}

Families all_families() { return {all_trials(), no_instance}; }

}  // namespace tw::cli
