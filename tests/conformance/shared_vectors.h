// Loads and stores of 2 to 16 bytes in the own CTA's shared memory.
#pragma once

#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/shared_memory.h"

namespace tw::conformance {

struct StoreVectors {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    std::uint32_t words[4];
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) words[i] = get_input(params, 4 * thread + i);
    const std::uint32_t pair[2] = {words[1], words[2]};
    isa::store_shared_16(shared_at(32 * thread), words);
    isa::store_shared_8(shared_at(32 * thread + 16), pair);
    isa::store_shared_4(shared_at(32 * thread + 24), words[3]);
    isa::store_shared_2(shared_at(32 * thread + 28) + 2, static_cast<std::uint16_t>(words[0]));
    isa::store_shared_2(shared_at(32 * thread + 28), static_cast<std::uint16_t>(words[1]));
    isa::barrier_sync(0, threads);
    dump_shared(params, threads, 0, 0, threads * 8);
  }
};

struct LoadVectors {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index(), other = threads - 1 - thread;
    fill_shared(threads, 0, threads * 8, [](unsigned word) { return pattern(word); });
    isa::barrier_sync(0, threads);
    std::uint32_t four[4], two[2];
    isa::load_shared_16(four, shared_at(32 * other + 16));
    isa::load_shared_8(two, shared_at(32 * other + 8));
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) put_output(params, 8 * thread + i, four[i]);
    put_output(params, 8 * thread + 4, two[0]);
    put_output(params, 8 * thread + 5, two[1]);
    put_output(params, 8 * thread + 6, isa::load_shared_4(shared_at(32 * other)));
    put_output(params, 8 * thread + 7, isa::load_shared_4(shared_at(32 * other + 4)));
  }
};

inline std::vector<Program> list_shared_vectors() {
  std::vector<Program> programs;
  const auto add = [&](const char* name, Body body) {
    Program program;
    program.name = name;
    program.body = body;
    program.grid = {1, 1, 64, 2048};
    program.input = {{Fill::Bits, 1024, 61}};
    program.output_bytes = 2048;
    programs.push_back(program);
  };
  add("vector_stores", body_of<StoreVectors>());
  add("vector_loads", body_of<LoadVectors>());
  return programs;
}

}  // namespace tw::conformance
