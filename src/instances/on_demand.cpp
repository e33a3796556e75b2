#include "src/instances/on_demand.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "src/checkout.h"

namespace tw {

namespace {

std::filesystem::path file_of(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kernels" / (name + ".so");
}

// Whether ./tw kernel NAME has built it.
bool is_built_by_script(const std::string& name) {
  const std::string script = in_checkout("tw");
  const pid_t child = fork();
  if (child == 0) {
    execl(script.c_str(), script.c_str(), "kernel", name.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// TW_KERNELS=built: ./tw has done so before.
bool asks_script() {
  return std::getenv("TW_CHECKOUT") != nullptr && std::getenv("TW_KERNELS") == nullptr;
}

Result<Instance> load(const std::string& name) {
  if (asks_script() && !is_built_by_script(name)) {
    return {Status::refused(fmt::format("The kernel {} could not be compiled.", name)), {}};
  }
  const std::string file = file_of(name);
  if (!std::filesystem::exists(file)) {
    return {Status::refused(fmt::format(
                "The kernel {} is not compiled: there is no '{}', which ./tw makes.", name, file)),
            {}};
  }
  void* const object = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  // tw::instances::make_NAME() by the rules of the ABI.
  const std::string make = "make_" + name;
  void* const symbol =
      object == nullptr
          ? nullptr
          : dlsym(object, fmt::format("_ZN2tw9instances{}{}Ev", make.size(), make).c_str());
  if (symbol == nullptr) {
    return {Status::refused(fmt::format("The kernel {} cannot be loaded: {}.", name, dlerror())),
            {}};
  }
  return {Status::good(), reinterpret_cast<Instance (*)()>(symbol)()};
}

// Loaded once, whoever asks.
const Result<Instance>& loaded(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, Result<Instance>> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(name);
  return found != known.end() ? found->second : known.emplace(name, load(name)).first->second;
}

}  // namespace

Status simulate_on_demand(const char* name, const Checked& problem, const LaunchOptions& options,
                          const vgpu::Options& machine, vgpu::Report& report) {
  const Result<Instance>& kernel = loaded(name);
  if (!kernel.status.is_good()) return kernel.status;
  return kernel.value->simulate(problem, options, machine, report);
}

}  // namespace tw
