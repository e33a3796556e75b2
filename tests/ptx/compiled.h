// PTX that nvcc makes when a test runs.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tw::vgpu::ptx {

// The compiler; empty: there is none.
inline const std::string& nvcc() {
  static const std::string found = [] {
    std::string name;
    if (FILE* const pipe = popen("command -v nvcc || command -v /usr/local/cuda/bin/nvcc", "r")) {
      char line[512] = {};
      if (std::fgets(line, sizeof line, pipe) != nullptr) name = line;
      pclose(pipe);
    }
    name.erase(name.find_last_not_of('\n') + 1);
    return name;
  }();
  return found;
}

// A file of this process that goes away with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("tilewright_" + std::to_string(getpid()) + "_" + name)) {}
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string name() const { return path_.string(); }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::filesystem::path path_;
};

// The PTX of a source for "sm_90a"; `options` are nvcc's beside the usual ones.
inline std::string ptx_of(const std::string& source, const std::string& architecture,
                          const std::string& options = "") {
  const TemporaryFile made(architecture + ".ptx");
  const std::string root = TW_SOURCE_FOLDER;
  const std::string command =
      nvcc() + " -ptx -std=c++20 --expt-relaxed-constexpr -arch=" + architecture + " " + options +
      " -I" + root + " -I" + root + "/include -o " + made.name() + " " + source;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return made.text();
}

}  // namespace tw::vgpu::ptx
