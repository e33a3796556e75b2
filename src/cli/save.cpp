#include "src/cli/save.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tw::cli {

namespace {

// Returns the reason why the file could not be written; empty if it was.
std::string written(const std::filesystem::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return "";
  return errno == 0 ? "the file cannot be written" : std::strerror(errno);
}

}  // namespace

Status save(const std::string& name, const std::string& text) {
  std::error_code ignored;
  std::filesystem::path path = name;
  // A link stays one, and what it points to is replaced.
  if (std::filesystem::is_symlink(path, ignored)) {
    const std::filesystem::path target = std::filesystem::canonical(path, ignored);
    if (!ignored) path = target;
  }
  std::string reason;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    reason = written(path, text);
  } else {
    std::filesystem::path partial = path;
    partial += fmt::format(".partial-{}", getpid());
    reason = written(partial, text);
    std::error_code error;
    if (reason.empty()) std::filesystem::rename(partial, path, error);
    if (error) reason = error.message();
    if (!reason.empty()) std::filesystem::remove(partial, ignored);
  }
  if (reason.empty()) return Status::good();
  return Status::refused(fmt::format("'{}' cannot be written: {}.", name, reason));
}

}  // namespace tw::cli
