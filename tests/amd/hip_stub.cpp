// A HIP library without a GPU: memory is the host's, and launches are recorded. The variable
// STUB_DEVICE is the device's name ("none": there is no device), STUB_RECORD a file to which a line
// is appended for each launch.
#include "tests/amd/hip_stub.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

using tw::tests::StubExecutor;
using tw::tests::StubLaunch;

namespace {

constexpr int invalid_value = 1, invalid_image = 200, not_found = 500;
std::vector<StubLaunch::Memory> allocated;

std::string device_name() {
  const char* const name = std::getenv("STUB_DEVICE");
  return name != nullptr ? name : "gfx942:sramecc+:xnack-";
}

}  // namespace

extern "C" {

StubExecutor stub_executor = nullptr;

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
  if (attribute == 74) *value = 65536;
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
// A function is its name, of which the image must have a kernel's descriptor.
int hipModuleGetFunction(void** function, void* module, const char* name) {
  Elf64_Ehdr header;
  std::memcpy(&header, module, sizeof header);
  const auto* const begin = static_cast<const char*>(module);
  const char* const end = begin + header.e_shoff;
  const std::string descriptor = std::string(name) + ".kd";
  const char* const found =
      std::search(begin, end, descriptor.c_str(), descriptor.c_str() + descriptor.size() + 1);
  if (*name == '\0' || found == end) return not_found;
  *function = new std::string(name);
  return 0;
}
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, void*, int, std::size_t) {
  *ctas = 1;
  return 0;
}
int hipModuleLaunchKernel(void* function, unsigned ctas, unsigned y, unsigned z, unsigned threads,
                          unsigned thread_y, unsigned thread_z, unsigned shared_bytes, void*,
                          void** arguments, void** extra) {
  const auto tag = [&](int i) { return reinterpret_cast<std::uintptr_t>(extra[i]); };
  if (y * z * thread_y * thread_z != 1 || arguments != nullptr || tag(0) != 1 || tag(2) != 2 ||
      tag(4) != 3) {
    return invalid_value;
  }
  const auto* const bytes = static_cast<const std::byte*>(extra[1]);
  const StubLaunch launch = {*static_cast<std::string*>(function),
                             ctas,
                             threads,
                             shared_bytes,
                             {bytes, bytes + *static_cast<std::size_t*>(extra[3])},
                             allocated};
  if (const char* const record = std::getenv("STUB_RECORD")) {
    std::FILE* const file = std::fopen(record, "a");
    std::fprintf(file, "%s %u %u %u %zu\n", launch.function.c_str(), ctas, threads, shared_bytes,
                 launch.arguments.size());
    std::fclose(file);
  }
  if (stub_executor != nullptr) stub_executor(launch);
  return 0;
}
int hipMalloc(void** memory, std::size_t bytes) {
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  allocated.push_back({*memory, bytes});
  return 0;
}
int hipFree(void* memory) {
  std::free(memory);
  std::erase_if(allocated, [&](const auto& range) { return range.begin == memory; });
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
  return status == not_found ? "not found" : status == invalid_image ? "no image" : "invalid value";
}

}  // extern "C"
