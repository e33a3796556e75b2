#include "src/bench/peers/cudnn_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "src/bench/harness/command_output.h"

namespace tw::bench::cudnn {

namespace {

// The folder of the package nvidia-cudnn, which PyTorch brings along.
std::string package_file() {
  const std::string folder = first_line(
      "python3 -c 'import nvidia.cudnn as package; print(list(package.__path__)[0])' 2>/dev/null");
  return folder.empty() ? "" : folder + "/lib/libcudnn.so.9";
}

void* open_file() {
  // Its engines that are compiled at run time look for this one, which the program's own path has.
  dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_GLOBAL);
  if (const char* given = std::getenv("TW_CUDNN")) return dlopen(given, RTLD_NOW | RTLD_GLOBAL);
  if (void* found = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_GLOBAL)) return found;
  const std::string file = package_file();
  return file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

template <class Function>
bool find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::string load(Functions& functions) {
  void* const library = open_file();
  if (library == nullptr) {
    const char* error = dlerror();
    return std::string("cuDNN 9 (libcudnn.so.9) was not found; TW_CUDNN may name the file. ") +
           (error == nullptr ? "" : error);
  }
  const bool complete =
      find(library, functions.version, "cudnnGetVersion") &&
      find(library, functions.create, "cudnnCreate") &&
      find(library, functions.destroy, "cudnnDestroy") &&
      find(library, functions.set_stream, "cudnnSetStream") &&
      find(library, functions.last_error, "cudnnGetLastErrorString") &&
      find(library, functions.create_descriptor, "cudnnBackendCreateDescriptor") &&
      find(library, functions.destroy_descriptor, "cudnnBackendDestroyDescriptor") &&
      find(library, functions.finalize, "cudnnBackendFinalize") &&
      find(library, functions.set, "cudnnBackendSetAttribute") &&
      find(library, functions.get, "cudnnBackendGetAttribute") &&
      find(library, functions.execute, "cudnnBackendExecute");
  return complete ? "" : "The libcudnn that was found lacks functions of version 9.";
}

}  // namespace

const Functions* open(std::string& why) {
  static Functions functions;
  static const std::string obstacle = load(functions);
  why = obstacle;
  return obstacle.empty() ? &functions : nullptr;
}

Descriptor::Descriptor(const Functions& functions, Kind kind) : functions_(&functions) {
  void* raw = nullptr;
  error_ = functions.create_descriptor(static_cast<int>(kind), &raw);
  if (error_ == 0) {
    raw_.reset(raw, [&functions](void* old) { functions.destroy_descriptor(old); });
  }
}

Descriptor& Descriptor::set(Attribute attribute, Type type, std::int64_t count,
                            const void* values) {
  if (error_ == 0) {
    error_ =
        functions_->set(raw(), static_cast<int>(attribute), static_cast<int>(type), count, values);
  }
  return *this;
}

Descriptor& Descriptor::set(Attribute attribute, std::span<const Descriptor> others) {
  std::vector<void*> raw;
  for (const Descriptor& other : others) {
    if (error_ == 0) error_ = other.error();
    raw.push_back(other.raw());
    others_.push_back(other);
  }
  return set(attribute, Type::Descriptor, static_cast<std::int64_t>(raw.size()), raw.data());
}

Descriptor& Descriptor::finalize() {
  if (error_ == 0) error_ = functions_->finalize(raw());
  return *this;
}

std::int64_t Descriptor::get(Attribute attribute, Type type, std::int64_t room,
                             void* values) const {
  std::int64_t count = 0;
  if (error_ != 0) return 0;
  const int error = functions_->get(raw(), static_cast<int>(attribute), static_cast<int>(type),
                                    room, &count, values);
  return error == 0 ? count : 0;
}

}  // namespace tw::bench::cudnn
