#include "src/layout_tool/save.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tw::layout_tool {

Status save(const std::string& path, const std::string& text) {
  const std::string partial = fmt::format("{}.partial-{}", path, getpid());
  errno = 0;
  std::ofstream file(partial, std::ios::binary);
  file << text;
  file.close();
  std::string reason;
  if (!file) {
    reason = errno == 0 ? "the file cannot be written" : std::strerror(errno);
  } else {
    std::error_code error;
    std::filesystem::rename(partial, path, error);
    if (error) reason = error.message();
  }
  if (reason.empty()) return Status::good();
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  return Status::refused(fmt::format("'{}' cannot be written: {}.", path, reason));
}

}  // namespace tw::layout_tool
