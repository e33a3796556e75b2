// A HIP library without a GPU: memory is the host's, and launches are recorded. The variable
// STUB_DEVICE is the device's name ("none": there is no device), STUB_RECORD a file to which a line
// is appended for each launch, TW_AMD_EMULATOR a program that executes code objects. It is called
// with a folder of files: code_object, arguments, launch (in a line: name, workgroups, threads and
// bytes of LDS), and for each piece of memory one that is called by its address, with its bytes,
// which the program writes anew.
#include "tests/amd/hip_stub.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using tw::tests::StubExecutor;
using tw::tests::StubLaunch;

namespace {

constexpr int invalid_value = 1, invalid_image = 200, not_found = 500, failed = 719;
std::vector<StubLaunch::Memory> allocated;

// A function is its name, and the image that has it.
struct Function {
  std::string name;
  const char* image;
};

std::string device_name() {
  const char* const name = std::getenv("STUB_DEVICE");
  return name != nullptr ? name : "gfx942:sramecc+:xnack-";
}

std::size_t bytes_of_image(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}

void write(const std::filesystem::path& file, const void* data, std::size_t bytes) {
  std::ofstream(file, std::ios::binary)
      .write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

// Whether the program ended well.
bool emulate(const char* program, const Function& function, const StubLaunch& launch) {
  char name[] = "/tmp/emulated_XXXXXX";
  const std::filesystem::path folder = mkdtemp(name);
  write(folder / "code_object", function.image, bytes_of_image(function.image));
  write(folder / "arguments", launch.arguments.data(), launch.arguments.size());
  std::ofstream(folder / "launch") << launch.function << " " << launch.ctas << " " << launch.threads
                                   << " " << launch.shared_bytes << "\n";
  std::map<std::filesystem::path, StubLaunch::Memory> files;
  for (const StubLaunch::Memory& memory : launch.allocated) {
    std::ostringstream address;
    address << std::hex << reinterpret_cast<std::uintptr_t>(memory.begin);
    files[folder / address.str()] = memory;
    write(folder / address.str(), memory.begin, memory.bytes);
  }
  const bool good = std::system((std::string(program) + " " + folder.string()).c_str()) == 0;
  for (const auto& [file, memory] : files) {
    std::ifstream(file, std::ios::binary)
        .read(static_cast<char*>(memory.begin), static_cast<std::streamsize>(memory.bytes));
  }
  std::filesystem::remove_all(folder);
  return good;
}

}  // namespace

extern "C" {

StubExecutor stub_executor = nullptr;
int stub_clearings = 0;

int hipInit(unsigned) { return 0; }
int hipGetDeviceCount(int* count) {
  *count = device_name() == "none" ? 0 : 1;
  return 0;
}
int hipGetDevice(int* device) {
  *device = 0;
  return 0;
}
int hipDeviceGetAttribute(int* value, int attribute, int) {
  if (attribute == 63) *value = 4;
  if (attribute == 74) *value = device_name().starts_with("gfx950") ? 163840 : 65536;
  return attribute == 63 || attribute == 74 ? 0 : invalid_value;
}
int hipGetDevicePropertiesR0600(void* properties, int) {
  std::strcpy(static_cast<char*>(properties), "a stub");
  std::strcpy(static_cast<char*>(properties) + 1160, device_name().c_str());
  return 0;
}
int hipModuleLoadData(void** module, const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  constexpr unsigned amdgpu = 224;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != amdgpu) {
    return invalid_image;
  }
  *module = const_cast<void*>(image);
  return 0;
}
// The image must have a descriptor of that name.
int hipModuleGetFunction(void** function, void* module, const char* name) {
  Elf64_Ehdr header;
  std::memcpy(&header, module, sizeof header);
  const auto* const begin = static_cast<const char*>(module);
  const char* const end = begin + header.e_shoff;
  const std::string descriptor = std::string(name) + ".kd";
  const char* const found =
      std::search(begin, end, descriptor.c_str(), descriptor.c_str() + descriptor.size() + 1);
  if (*name == '\0' || found == end) return not_found;
  *function = new Function{name, begin};
  return 0;
}
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, void*, int, std::size_t) {
  *ctas = 1;
  return 0;
}
int hipModuleLaunchKernel(void* function, unsigned ctas, unsigned y, unsigned z, unsigned threads,
                          unsigned thread_y, unsigned thread_z, unsigned shared_bytes, void* stream,
                          void** arguments, void** extra) {
  const auto tag = [&](int i) { return reinterpret_cast<std::uintptr_t>(extra[i]); };
  if (y * z * thread_y * thread_z != 1 || arguments != nullptr || tag(0) != 1 || tag(2) != 2 ||
      tag(4) != 3) {
    return invalid_value;
  }
  const auto* const bytes = static_cast<const std::byte*>(extra[1]);
  const Function& called = *static_cast<Function*>(function);
  const StubLaunch launch = {called.name,
                             ctas,
                             threads,
                             shared_bytes,
                             {bytes, bytes + *static_cast<std::size_t*>(extra[3])},
                             allocated,
                             stream};
  if (const char* const record = std::getenv("STUB_RECORD")) {
    std::FILE* const file = std::fopen(record, "a");
    std::fprintf(file, "%s %u %u %u %zu\n", launch.function.c_str(), ctas, threads, shared_bytes,
                 launch.arguments.size());
    std::fclose(file);
  }
  if (stub_executor != nullptr) stub_executor(launch);
  const char* const emulator = std::getenv("TW_AMD_EMULATOR");
  return emulator == nullptr || emulate(emulator, called, launch) ? 0 : failed;
}
// At addresses that another program has free, too.
int hipMalloc(void** memory, std::size_t bytes) {
  static std::uintptr_t next = 0x100000000000;
  *memory = mmap(reinterpret_cast<void*>(next), bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (*memory == MAP_FAILED) return invalid_value;
  next += (bytes + 0xffff) / 0x10000 * 0x10000;
  allocated.push_back({*memory, bytes});
  return 0;
}
int hipFree(void* memory) {
  for (const StubLaunch::Memory& range : allocated) {
    if (range.begin == memory) munmap(memory, range.bytes);
  }
  std::erase_if(allocated, [&](const auto& range) { return range.begin == memory; });
  return 0;
}
int hipThreadExchangeStreamCaptureMode(int* mode) {
  static thread_local int current = 0;
  std::swap(*mode, current);
  return 0;
}
int hipMemsetAsync(void* memory, int byte, std::size_t bytes, void*) {
  ++stub_clearings;
  std::memset(memory, byte, bytes);
  return 0;
}
int hipMemset(void* memory, int byte, std::size_t bytes) {
  std::memset(memory, byte, bytes);
  return 0;
}
int hipMemcpy(void* to, const void* from, std::size_t bytes, int) {
  std::memcpy(to, from, bytes);
  return 0;
}
int hipStreamQuery(void*) { return 0; }
int hipDeviceSynchronize() { return 0; }
int hipEventCreate(void** event) {
  *event = nullptr;
  return 0;
}
int hipEventRecord(void*, void*) { return 0; }
int hipEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 1;
  return 0;
}
int hipEventDestroy(void*) { return 0; }
const char* hipGetErrorString(int status) {
  if (status == failed) return "the emulator failed";
  return status == not_found ? "not found" : status == invalid_image ? "no image" : "invalid value";
}

}  // extern "C"
