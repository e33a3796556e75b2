#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "src/instances/plugin.h"

namespace tw {

Status open_plugin(OpenedPlugin& opened, const char* path) {
  const auto refused = [path](const std::string& why) {
    return Status::refused(fmt::format("The plug-in '{}' {}.", path, why));
  };
  opened.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (opened.library == nullptr) return refused(fmt::format("cannot be loaded: {}", dlerror()));
  const auto find = reinterpret_cast<const Plugin* (*)()>(dlsym(opened.library, "tw_plugin"));
  if (find == nullptr) {
    return refused(
        "has no function tw_plugin, which TW_PLUGIN_FAMILIES of tilewright/plugin.h makes");
  }
  opened.plugin = find();
  const Plugin& plugin = *opened.plugin;
  if (std::strcmp(plugin.version, header_version) != 0) {
    return refused(
        fmt::format("was made for Tilewright {}, but this is {}", plugin.version, header_version));
  }
  if (!std::equal(std::begin(plugin.sizes), std::end(plugin.sizes), own_plugin.sizes)) {
    return refused("was compiled with structs of other sizes than this library has");
  }
  return Status::good();
}

}  // namespace tw
