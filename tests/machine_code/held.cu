// Three tokens are held and none is let go before the end: held.py counts who is told.
#include "tilewright/pipeline/ring.h"

namespace {

struct Nothing {};

struct Token {
  unsigned value = 0;
  unsigned slot = 0;
  [[no_unique_address]] Nothing trace;

  Token() = default;
  __device__ explicit Token(unsigned given) : value(given) {}
  __device__ Token(Token&& other) noexcept : value(std::exchange(other.value, 0u)) {}
  __device__ Token& operator=(Token&& other) noexcept {
    release();
    value = std::exchange(other.value, 0u);
    return *this;
  }
  __device__ ~Token() { release(); }
  __device__ void release() const {
    if (value != 0) asm volatile("// released %0" ::"r"(value));
  }
};

}  // namespace

__global__ void hold(const unsigned* values) {
  tw::Held<Token, 3> held;
  for (unsigned i = 0; i < 3; ++i) held.keep(Token(values[i]));
}
