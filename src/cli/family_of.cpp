#include "src/cli/family_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "src/verify/trials.h"

namespace tw::cli {

std::string family_of(const std::string& instance) {
  const auto has = [&](const auto& instances) {
    for (const auto& one : instances) {
      if (instance == one.name) return true;
    }
    return false;
  };
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

std::string no_family(const std::string& name) {
  std::vector<std::string> families;
  for (const Trial* trial : all_trials()) families.push_back(trial->description->name);
  return name.empty() ? fmt::format("family is required: one of {}.", fmt::join(families, ", "))
                      : fmt::format("There is no family '{}'; there are {}.", name,
                                    fmt::join(families, ", "));
}

void require_family(CLI::App& command, Verdict& verdict) {
  // Not ->required(): such a word would come before subcommands.
  auto word = std::make_shared<std::string>();
  command.add_option("family", *word, "of kernels")->group("");
  command.callback([&command, word, &verdict] {
    if (command.get_subcommands().empty()) verdict.refuse(no_family(*word));
  });
}

}  // namespace tw::cli
