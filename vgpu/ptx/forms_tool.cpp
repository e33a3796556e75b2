// tilewright_ptx_forms FILE...: prints which instructions PTX files have, and how many of each;
// then those that the virtual GPU has no model for.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "vgpu/ptx/forms.h"
#include "vgpu/ptx/read/module.h"
#include "vgpu/ptx/run/code.h"

int main(int argc, char** argv) {
  using namespace tw::vgpu::ptx;
  if (argc < 2) {
    fmt::print(stderr, "usage: tilewright_ptx_forms FILE...\n");
    return 2;
  }
  Forms forms, unmodelled;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) {
      fmt::print(stderr, "{} cannot be read.\n", argv[i]);
      return 2;
    }
    const tw::Result<Module> module = read(text);
    if (!module.status.is_good()) {
      fmt::print(stderr, "{}: {}\n", argv[i], module.status.sentence());
      return 2;
    }
    count_forms(forms, *module.value, [](const auto&, const auto&) { return true; });
    count_forms(unmodelled, *module.value, [](const auto& function, const auto& instruction) {
      return !has_model(function, instruction);
    });
  }
  fmt::print("{}\nwithout a model: {}", describe(forms), describe(unmodelled));
  return 0;
}
