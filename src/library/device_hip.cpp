#include <fmt/format.h>

#include <cstring>

#include "src/library/device.h"
#include "src/library/failure.h"
#include "tilewright/launch/hip.h"
#include "tilewright/launch/targets.h"

namespace tw::library {

namespace {

// The targets of HIP's devices: "gfx942 and gfx950".
std::string names_of_targets() {
  std::string names;
  for (const TargetFacts& one : targets) {
    if (is_of_hip(one)) names += fmt::format("{}{}", names.empty() ? "" : " and ", one.name);
  }
  return names;
}

class HipGpu : public Gpu {
 public:
  bool is_there() const override { return library() != nullptr; }

  Device current() const override {
    static KnownDevices known;
    const HipLibrary& hip = *library();
    int number = 0;
    must(hip.device(&number), "hipGetDevice");
    return known.find(number, [&] {
      const std::string here = hip.target_of(number);
      const TargetFacts* const target = target_named(here);
      if (target == nullptr || !is_of_hip(*target)) {
        throw Failure{TW_UNSUPPORTED,
                      fmt::format("The device is {}, but kernels are compiled for {}.", here,
                                  names_of_targets())};
      }
      int units = 0;
      must(hip.attribute(&units, HipLibrary::compute_units, number), "Counting CUs");
      // The name lives as long as the process.
      return Device{this,
                    number,
                    target->name,
                    static_cast<unsigned>(units),
                    strdup(hip.name_of(number).c_str()),
                    target->capability_begin};
    });
  }

  Status clear(void* memory, std::size_t bytes, void* stream) const override {
    const HipLibrary& hip = *library();
    return hip.status(hip.fill_later(memory, 0, bytes, stream), "Clearing the workspace");
  }

  // Grids do not overlap here: a node that clears the workspace costs no more than another.
  void* counters_of_capture(std::size_t, void*) const override { return nullptr; }

  Status exchange_capture_mode(int& mode) const override {
    const HipLibrary& hip = *library();
    return hip.status(hip.exchange_capture_mode(&mode), "hipThreadExchangeStreamCaptureMode");
  }

 private:
  static const HipLibrary* library() {
    std::string why;
    static const HipLibrary* const opened = HipLibrary::opened(why);
    return opened;
  }
  static void must(int result, const char* what) {
    if (result == 0) return;
    throw Failure{TW_CUDA, library()->status(result, what).sentence()};
  }
};

}  // namespace

const Gpu& hip() {
  static const HipGpu one;
  return one;
}

}  // namespace tw::library
