// A launch of PTX in words: an entry of a text, its grid, and arguments that name arrays.
#pragma once

#include <memory>
#include <string_view>

#include "vgpu/ptx/run/launch.h"
#include "vgpu/ptx/use/array.h"

namespace tw::vgpu::ptx {

struct LaunchWords {
  std::string entry;  // empty: the only one
  Extent grid;
  Extent block = {0, 0, 0};    // zeros: what .reqntid says
  Extent cluster = {0, 0, 0};  // zeros: what .reqnctapercluster says, or one CTA
  std::size_t shared_bytes = 0;
  bool dependent_launch = false;
  // One for each parameter:
  //   A, A+128                an array's address, with bytes added
  //   17, -2, 0.5, f16:0.5    a number of the parameter's type, or of its own
  //   null                    the address zero
  //   map:A,box=64x32,...     a tensor map (map_words.h): itself, or its address
  //   struct:0=A;8=s32:17     a struct, whose other bytes are zero
  std::vector<std::string> arguments;
};

class DescribedLaunch {
 public:
  // The text is not kept. Throws Refusal.
  DescribedLaunch(std::string_view text, const LaunchWords& words, std::vector<Array> arrays);
  DescribedLaunch(DescribedLaunch&&) = delete;

  // Every run begins with what the arrays began with, and leaves in them what it wrote.
  Report run(const Options& options);

  const std::vector<Array>& arrays() const { return arrays_; }
  // What printf wrote in the last run, a line each.
  const std::vector<std::string>& printed() const { return printed_; }
  // Throws Refusal where there is none.
  const Array& array(std::string_view name) const;
  // "matmul, grid 4x1x1, block 128x1x1".
  std::string title() const;

 private:
  void place_extents(const LaunchWords& words);
  void add_argument(const Variable& parameter, const Placed& placed, const std::string& argument);
  void put_value(std::size_t offset, std::size_t bytes, std::string_view type,
                 std::string_view argument, std::string_view parameter);
  void put_struct(std::size_t offset, std::size_t bytes, std::string_view parts,
                  std::string_view parameter);

  Module module_;
  std::unique_ptr<Code> code_;
  std::vector<Array> arrays_;
  std::vector<std::unique_ptr<TensorMap>> maps_;  // those that are passed by their address
  std::vector<std::byte> parameters_;
  Request request_;
  std::vector<std::string> printed_;
};

}  // namespace tw::vgpu::ptx
