#include "vgpu/machine/source_lines.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace tw::vgpu {

namespace {

// The file that holds this code, and whether its addresses count from where it was loaded.
struct Module {
  std::string path;
  const std::byte* base = nullptr;
  bool is_relocated = false;
  bool has_lines = false;
};

std::string path_of(const char* name) {
  if (std::strchr(name, '/') != nullptr && access(name, R_OK) == 0) return name;
  char path[4096];
  const auto length = readlink("/proc/self/exe", path, sizeof path);
  return length <= 0 ? "" : std::string(path, static_cast<std::size_t>(length));
}

template <class Value>
bool read_at(std::ifstream& file, std::uint64_t offset, Value* to, std::size_t bytes) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(
      file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(bytes)));
}

bool has_section(std::ifstream& file, const Elf64_Ehdr& header, const char* wanted) {
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (header.e_shstrndx >= header.e_shnum ||
      !read_at(file, header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) {
    return false;
  }
  std::string names(sections[header.e_shstrndx].sh_size, '\0');
  if (!read_at(file, sections[header.e_shstrndx].sh_offset, names.data(), names.size())) {
    return false;
  }
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_name < names.size() && std::strcmp(&names[section.sh_name], wanted) == 0) {
      return true;
    }
  }
  return false;
}

Module module_of(const void* address) {
  Dl_info info;
  Module module;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return module;
  module.path = path_of(info.dli_fname);
  module.base = static_cast<const std::byte*>(info.dli_fbase);
  std::ifstream file(module.path, std::ios::binary);
  Elf64_Ehdr header;
  if (!read_at(file, 0, &header, sizeof header)) return module;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return module;
  module.is_relocated = header.e_type == ET_DYN;
  module.has_lines = has_section(file, header, ".debug_line");
  return module;
}

// Instructions and their model are the same in every kernel: what called them is of interest.
bool is_shown(const std::string& line) {
  for (const char* part :
       {"?", "/vgpu/machine/", "/vgpu/simulate.h", "/isa/", "/usr/", "/layout/access.h"}) {
    if (line.find(part) != std::string::npos) return false;
  }
  return true;
}

std::string shortened(std::string line) {
  line = line.substr(0, line.find_first_of(" \n"));  // "file:12 (discriminator 3)"
  constexpr const char* root = "include/tilewright/";
  const std::size_t place = line.rfind(root);
  return place == std::string::npos ? line : line.substr(place + std::strlen(root));
}

}  // namespace

Frames current_frames() {
  Frames frames;
  frames.count = backtrace(frames.addresses.data(), static_cast<int>(frames.addresses.size()));
  return frames;
}

std::string source_lines(const Frames& frames) {
  constexpr int own_frames = 1;  // current_frames()
  if (frames.count <= own_frames) return "";
  const Module module = module_of(frames.addresses[own_frames]);
  if (!module.has_lines || module.path.find('\'') != std::string::npos) return "";
  std::string command = fmt::format("addr2line -i -e '{}'", module.path);
  for (int i = own_frames; i < frames.count; ++i) {
    // The call stands before the place to which it returns.
    const auto* at = static_cast<const std::byte*>(frames.addresses[i]) - 1;
    const std::uintptr_t address = module.is_relocated
                                       ? static_cast<std::uintptr_t>(at - module.base)
                                       : reinterpret_cast<std::uintptr_t>(at);
    command += fmt::format(" {:x}", address);
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>/dev/null").c_str(), "r"),
                                                   pclose);
  if (pipe == nullptr) return "";
  constexpr int most = 3;
  std::string lines;
  char text[4096];
  for (int found = 0; std::fgets(text, sizeof text, pipe.get()) != nullptr;) {
    if (found == most || !is_shown(text)) continue;
    lines += (found == 0 ? "" : ", called at ") + shortened(text);
    ++found;
  }
  return lines;
}

}  // namespace tw::vgpu
