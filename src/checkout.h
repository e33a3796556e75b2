// Where files of the checkout are: ./tw runs its programs where its caller is, and tells them.
#pragma once

#include <cstdlib>
#include <string>

namespace tw {

// `path` from the root of the checkout; as it is where nobody told.
inline std::string in_checkout(const std::string& path) {
  const char* root = std::getenv("TW_CHECKOUT");
  return root == nullptr ? path : std::string(root) + "/" + path;
}

}  // namespace tw
