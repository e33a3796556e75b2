// What the programs have in common on the device: shared memory as words, and waiting.
#pragma once

#include "tests/conformance/program.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/layout/access.h"

namespace tw::conformance {

TW_DEVICE std::uint32_t* shared_words(unsigned byte_offset = 0) {
  return static_cast<std::uint32_t*>(isa::dynamic_shared()) + byte_offset / 4;
}

TW_DEVICE SharedAddress shared_at(unsigned byte_offset) {
  return isa::shared_address(shared_words(byte_offset));
}

TW_DEVICE void put_shared(unsigned word, std::uint32_t value) {
  store_element<Space::Shared>(shared_words() + word, value);
}

TW_DEVICE std::uint32_t get_shared(unsigned word) {
  return load_element<Space::Shared>(shared_words() + word);
}

TW_DEVICE std::uint32_t get_input(const Params& params, unsigned word) {
  return load_element<Space::Global>(params.input + word);
}

TW_DEVICE void put_output(const Params& params, unsigned word, std::uint32_t value) {
  store_element<Space::Global>(params.output + word, value);
}

// What shared memory holds before an instruction writes to it, and what stores send.
TW_DEVICE std::uint32_t pattern(unsigned word) { return (word + 1) * 0x9e3779b9u; }

// All threads of the CTA write words [first, first + count) and show them to the async proxy.
template <class Value>
TW_DEVICE void fill_shared(unsigned threads, unsigned first, unsigned count, const Value& value) {
  for (unsigned word = isa::thread_index(); word < count; word += threads) {
    put_shared(first + word, value(word));
  }
  isa::fence_proxy_async();
}

TW_DEVICE void dump_shared(const Params& params, unsigned threads, unsigned output_word,
                           unsigned first, unsigned count) {
  for (unsigned word = isa::thread_index(); word < count; word += threads) {
    put_output(params, output_word + word, get_shared(first + word));
  }
}

TW_DEVICE void wait(SharedAddress barrier, unsigned parity) {
  while (!isa::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

}  // namespace tw::conformance
