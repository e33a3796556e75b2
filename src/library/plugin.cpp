// Families of plug-ins in the library's table.
#include "src/instances/plugin.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "src/library/checks.h"
#include "src/library/families.h"

namespace tw::library {

namespace {

[[noreturn]] void refuse(const char* path, const std::string& why) {
  throw Failure{TW_INVALID, fmt::format("The plug-in '{}' {}.", path, why)};
}

void check_family(const PluginFamily& family, const char* path) {
  const Description& description = *family.description;
  for (const Family* known : families()) {
    if (std::strcmp(known->name(), description.name) == 0) {
      refuse(path, fmt::format("has a family {}, but there is one of this name", known->name()));
    }
  }
  if (description.size % sizeof(std::uint64_t) != 0 ||
      description.size < 2 * sizeof(std::uint64_t)) {
    refuse(path, fmt::format("has a family {} whose problem has {} bytes, but must have a multiple "
                             "of 8 and at least 16",
                             description.name, description.size));
  }
}

}  // namespace

void load_plugin(const char* path) {
  not_null(path, "path of the plug-in");
  // They live as long as the process, as the code of a plug-in does.
  static auto& mutex = *new std::mutex;
  static auto& loaded = *new std::vector<void*>;
  static auto& added = *new std::deque<Family>;
  const std::lock_guard lock(mutex);
  OpenedPlugin opened;
  if (const Status status = open_plugin(opened, path); !status.is_good()) {
    throw Failure{TW_INVALID, status.sentence()};
  }
  if (std::find(loaded.begin(), loaded.end(), opened.library) != loaded.end()) return;
  const Plugin& plugin = *opened.plugin;
  if (const std::size_t many = families().size() + plugin.families.size(); many > most_families) {
    refuse(path, fmt::format("makes {} families of those that there are, but there is room for {}",
                             many, most_families));
  }
  for (const PluginFamily& family : plugin.families) check_family(family, path);
  for (const PluginFamily& family : plugin.families) {
    added.push_back({family.description, family.instances});
    add_family(added.back());
  }
  loaded.push_back(opened.library);
}

}  // namespace tw::library
