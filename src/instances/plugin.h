// A family of one's own in libtilewright: a shared object with TW_PLUGIN_FAMILIES(Family) in it,
// which the variable TW_PLUGIN names, or tw_load_plugin.
#pragma once

#include "src/instances/instance.h"
#include "tilewright/launch/version.h"

namespace tw {

// Its kernels are asked in their order; the first that takes a problem computes it.
struct PluginFamily {
  const Description* description;
  std::span<const Instance> (*instances)();
};

// What a plug-in hands to the library. Any library may read the version; what follows only one of
// the same version and of structs that have the same sizes.
struct Plugin {
  const char* version;
  std::size_t sizes[4];
  std::span<const PluginFamily> families;
};

// A plug-in of these headers, without families.
inline constexpr Plugin own_plugin = {
    header_version,
    {sizeof(Description), sizeof(Checked), sizeof(Instance), sizeof(LaunchOptions)},
    {}};

struct OpenedPlugin {
  void* library = nullptr;  // the same for every opening of one file
  const Plugin* plugin = nullptr;
};

// Loads the file of a plug-in and checks all that it must have before its families are read.
Status open_plugin(OpenedPlugin& opened, const char* path);

// A Family has a description and instances().
template <class... Family>
const Plugin& plugin_of() {
  static constexpr PluginFamily families[] = {
      {&Family::description, [] { return std::span<const Instance>(Family::instances()); }}...};
  static constexpr Plugin plugin = [] {
    Plugin made = own_plugin;
    made.families = families;
    return made;
  }();
  return plugin;
}

}  // namespace tw

#define TW_PLUGIN_FAMILIES(...) \
  extern "C" TW_API const tw::Plugin* tw_plugin() { return &tw::plugin_of<__VA_ARGS__>(); }
