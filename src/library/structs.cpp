#include "src/library/structs.h"

#include <fmt/format.h>

#include <cstring>

#include "src/library/failure.h"

namespace tw::library {

void check_size(const char* name, const void* given, std::size_t size, std::size_t expected,
                const char* initialiser) {
  if (given == nullptr) throw Failure{TW_INVALID, fmt::format("The {} is null.", name)};
  if (size == expected) return;
  throw Failure{
      TW_INVALID,
      fmt::format("The size of the {} is {}, but this library's has {} bytes: {} sets it.", name,
                  size, expected, initialiser)};
}

void set_usual(tw_options& options) {
  std::memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.fast_accumulation = 1;
  options.workspace_limit = std::size_t{256} << 20;
}

tw_options usual_options() {
  tw_options options;
  set_usual(options);
  return options;
}

tw_options checked_options(const tw_options* options) {
  if (options == nullptr) return usual_options();
  check_struct("options", options, "tw_matmul_init");
  return *options;
}

}  // namespace tw::library
