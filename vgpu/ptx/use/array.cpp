#include "vgpu/ptx/use/array.h"

#include <cstring>

#include "tilewright/base/require.h"

namespace tw::vgpu::ptx {

Array::Array(ArrayWords words, std::span<const std::byte> given)
    : words_(std::move(words)),
      given_(given.begin(), given.end()),
      memory_(new (std::align_val_t{alignment}) std::byte[words_.bytes + 1]) {
  require(given.size() == (words_.flow == Flow::Written ? 0 : words_.bytes),
          "Array: the bytes that it begins with are not as many as it has.");
  reset();
}

void Array::reset() {
  if (words_.flow == Flow::Written) {
    std::memset(memory_.get(), 0xff, words_.bytes);  // NaN, or a number that nobody expects
  } else if (!given_.empty()) {
    std::memcpy(memory_.get(), given_.data(), given_.size());
  }
}

GlobalRange Array::range() const {
  return {memory_.get(), words_.bytes, words_.name.c_str(), words_.flow != Flow::Written,
          words_.flow != Flow::Read};
}

}  // namespace tw::vgpu::ptx
