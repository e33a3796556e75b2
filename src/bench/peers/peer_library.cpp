#include "src/bench/peers/peer_library.h"

#include <dlfcn.h>

namespace tw::bench {

Status find_peer_function(void*& function, const std::string& path, const std::string& family) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const error = dlerror();
    return Status::refused("The file '" + path + "' is no shared library that can be opened: " +
                           (error == nullptr ? "nothing says why" : error) + ".");
  }
  const std::string name = "tw_peer_" + family;
  function = dlsym(library, name.c_str());
  if (function != nullptr) return Status::good();
  dlclose(library);
  return Status::refused("The file '" + path + "' has no function " + name + ".");
}

}  // namespace tw::bench
