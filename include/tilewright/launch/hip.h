// Launching on an AMD GPU. HIP's library is opened when it is first needed: a binary that is linked
// with it would not start on a machine without one, and its headers are not needed.
#pragma once

#include <dlfcn.h>
#include <elf.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "tilewright/base/status.h"
#include "tilewright/launch/device_kernel.h"
#include "tilewright/launch/tensor_map.h"

namespace tw {

// The functions of HIP's library that are called here, as HIP 6 and 7 have them.
struct HipLibrary : DeviceRuntime {
  static constexpr int compute_units = 63, shared_bytes = 74;  // attributes of a device

  int (*init)(unsigned flags);
  int (*device_count)(int* count);
  int (*device)(int* index);
  int (*attribute)(int* value, int attribute, int device);
  int (*properties)(void* properties, int device);
  int (*load)(void** module, const void* code_object);
  int (*find)(void** function, void* module, const char* name);
  int (*fill_later)(void* memory, int byte, std::size_t bytes, void* stream);
  int (*exchange_capture_mode)(int* mode);
  int (*fits)(int* ctas, void* function, int threads, std::size_t shared_bytes);
  int (*launch)(void* function, unsigned ctas, unsigned, unsigned, unsigned threads, unsigned,
                unsigned, unsigned shared_bytes, void* stream, void** arguments, void** extra);

  // Null, with a sentence in `why`, where there is no such library or no GPU.
  static const HipLibrary* opened(std::string& why) {
    static std::string refusal;
    static HipLibrary functions;
    static const bool is_open = functions.open(refusal);
    why = refusal;
    return is_open ? &functions : nullptr;
  }

  Status status(int result, const char* what) const {
    if (result == 0) return Status::good();
    return Status::refused(std::string(what) + " failed: " + error(result) + ".");
  }

  // "gfx942" of a device whose whole name is "gfx942:sramecc+:xnack-".
  std::string target_of(int index) const {
    constexpr std::size_t target_at = 1160;
    const std::string name = text_of(index, target_at);
    return name.substr(0, name.find(':'));
  }
  // "AMD Instinct MI300X".
  std::string name_of(int index) const { return text_of(index, 0); }

 private:
  // Reads a text out of hipDeviceProp_t, which has 1472 bytes in HIP 7.
  std::string text_of(int index, std::size_t at) const {
    alignas(8) char bytes[8192] = {};
    return properties(bytes, index) == 0 ? bytes + at : "unknown";
  }

  bool open(std::string& why) {
    // The caller's streams and memory are those of the library that it has loaded, if any.
    void* library = nullptr;
    for (const int loaded_already : {RTLD_NOLOAD, 0}) {
      for (const char* name : {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"}) {
        if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL | loaded_already);
      }
    }
    if (library == nullptr) {
      why = "There is no AMD GPU here: HIP's library, libamdhip64.so, is not found.";
      return false;
    }
    const auto bind = [&](auto& function, const char* name) {
      void* const found = dlsym(library, name);
      if (found == nullptr) {
        why = std::string("HIP's library, libamdhip64.so, has no ") + name + ".";
      }
      std::memcpy(&function, &found, sizeof function);
    };
    bind(init, "hipInit");
    bind(device_count, "hipGetDeviceCount");
    bind(device, "hipGetDevice");
    bind(attribute, "hipDeviceGetAttribute");
    bind(properties, "hipGetDevicePropertiesR0600");
    bind(load, "hipModuleLoadData");
    bind(find, "hipModuleGetFunction");
    bind(fits, "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
    bind(launch, "hipModuleLaunchKernel");
    bind(fill_later, "hipMemsetAsync");
    bind(exchange_capture_mode, "hipThreadExchangeStreamCaptureMode");
    bind(allocate, "hipMalloc");
    bind(free, "hipFree");
    bind(fill, "hipMemset");
    bind(copy, "hipMemcpy");
    bind(query, "hipStreamQuery");
    bind(synchronize, "hipDeviceSynchronize");
    bind(create_event, "hipEventCreate");
    bind(record, "hipEventRecord");
    bind(elapsed, "hipEventElapsedTime");
    bind(destroy_event, "hipEventDestroy");
    bind(error, "hipGetErrorString");
    if (!why.empty()) return false;
    int count = 0;
    if (init(0) != 0 || device_count(&count) != 0 || count == 0) {
      why = "There is no AMD GPU here.";
      return false;
    }
    return true;
  }
};

// The name of the one kernel of a code object; empty if it has none. A kernel's descriptor is a
// symbol with .kd behind its name.
inline std::string kernel_in(const unsigned char* code_object) {
  Elf64_Ehdr header;
  std::memcpy(&header, code_object, sizeof header);
  const auto section = [&](unsigned index) {
    Elf64_Shdr found;
    std::memcpy(&found, code_object + header.e_shoff + index * sizeof found, sizeof found);
    return found;
  };
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_DYNSYM) continue;
    const char* const names =
        reinterpret_cast<const char*>(code_object) + section(symbols.sh_link).sh_offset;
    for (std::size_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, code_object + symbols.sh_offset + at, sizeof symbol);
      const std::string_view name = names + symbol.st_name;
      if (name.ends_with(".kd")) return std::string(name.substr(0, name.size() - 3));
    }
  }
  return "";
}

struct EncodeForHip {
  template <class Box>
  Status operator()(TensorMap&, const Box&) const {
    return Status::refused("An AMD GPU has no TMA.");
  }
};

// A code object with one kernel, which is loaded on a device when it is first needed there. Any
// thread, any device.
class HipKernel {
 public:
  using Encode = EncodeForHip;
  struct Image {
    const void* begin;
  };
  constexpr HipKernel(Image image, const KernelNeeds& needs) : needs_(needs), image_(image) {}

  // How many workgroups the current device holds at once. Asked once per device.
  Status max_active_clusters(unsigned& ctas) {
    int device = 0;
    if (Status status = current(device); !status.is_good()) return status;
    ctas = devices_[device].ctas.load(std::memory_order_acquire);
    if (ctas != 0) return Status::good();
    Status asked = ask(ctas, device);
    if (asked.is_good()) devices_[device].ctas.store(ctas, std::memory_order_release);
    return asked;
  }

  // After max_active_clusters() was good on this device.
  template <class Params>
  Status launch(const Params& params, unsigned ctas, void* stream, bool at_once = false,
                unsigned /*cluster*/ = 0) const {
    if (at_once) return Status::refused("By HIP no grid is launched whose CTAs must run at once.");
    int device = 0;
    if (Status status = current(device); !status.is_good()) return status;
    std::string why;
    const HipLibrary& hip = *HipLibrary::opened(why);
    // By their tags: where the arguments lie, how many bytes they have, the end.
    std::size_t bytes = sizeof(Params);
    const auto tag = [](std::uintptr_t number) { return reinterpret_cast<void*>(number); };
    void* extra[] = {tag(1), const_cast<Params*>(&params), tag(2), &bytes, tag(3)};
    return hip.status(
        hip.launch(devices_[device].function, ctas, 1, 1, needs_.threads, 1, 1,
                   static_cast<unsigned>(needs_.shared_bytes), stream, nullptr, extra),
        "The launch");
  }

 private:
  static constexpr int max_devices = 64;

  static Status current(int& device) {
    std::string why;
    const HipLibrary* const hip = HipLibrary::opened(why);
    if (hip == nullptr) return Status::refused(why);
    Status found = hip->status(hip->device(&device), "hipGetDevice");
    if (found.is_good() && device >= max_devices) {
      return Status::refused("Device " + std::to_string(device) +
                             " is beyond the 64 that are known.");
    }
    return found;
  }

  Status ask(unsigned& ctas, int device) {
    std::string why;
    const HipLibrary& hip = *HipLibrary::opened(why);
    const std::string needed = "gfx" + std::to_string(needs_.capability_begin);
    const std::string here = hip.target_of(device);
    if (here != needed) {
      return Status::refused("This kernel is for " + needed + "; the device is " + here + ".");
    }
    int units = 0, room = 0, fit = 0;
    Status asked =
        hip.status(hip.attribute(&units, HipLibrary::compute_units, device), "Counting CUs");
    if (!asked.is_good()) return asked;
    asked = hip.status(hip.attribute(&room, HipLibrary::shared_bytes, device),
                       "Asking for the size of LDS");
    if (!asked.is_good()) return asked;
    if (needs_.shared_bytes > static_cast<std::size_t>(room)) {
      return Status::refused("The kernel needs " + std::to_string(needs_.shared_bytes) +
                             " bytes of LDS; the device offers " + std::to_string(room) + ".");
    }
    const std::scoped_lock lock(loading_);
    void* module = nullptr;
    void*& function = devices_[device].function;
    asked = hip.status(hip.load(&module, image_.begin), "Loading a code object");
    if (!asked.is_good()) return asked;
    const std::string name = kernel_in(static_cast<const unsigned char*>(image_.begin));
    asked = hip.status(hip.find(&function, module, name.c_str()), "Finding a kernel in its image");
    if (!asked.is_good()) return asked;
    asked =
        hip.status(hip.fits(&fit, function, static_cast<int>(needs_.threads), needs_.shared_bytes),
                   "Asking how many workgroups a CU holds");
    if (!asked.is_good()) return asked;
    if (fit * units <= 0) return Status::refused("The device holds no workgroup of this kernel.");
    ctas = static_cast<unsigned>(fit * units);
    return Status::good();
  }

  struct OnDevice {
    std::atomic<unsigned> ctas = 0;
    void* function = nullptr;  // written before the first `ctas` that is not 0
  };
  KernelNeeds needs_;
  Image image_ = {};
  std::mutex loading_;
  OnDevice devices_[max_devices] = {};
};

}  // namespace tw
