// Special registers, what a warp does together, and the register budget.
#pragma once

#include "tests/conformance/device.h"
#include "tilewright/isa/ptx/threads.h"

namespace tw::conformance {

struct SpecialRegisters {
  using Params = conformance::Params;
  static constexpr unsigned threads = 96;
  static TW_DEVICE void run(const Params& params) {
    const unsigned first = 4 * (isa::cta_index() * threads + isa::thread_index());
    put_output(params, first, isa::thread_index());
    put_output(params, first + 1, isa::cta_index());
    put_output(params, first + 2, isa::cta_count());
    put_output(params, first + 3, isa::cluster_rank());
  }
};

// The time is nobody's to expect, but it does not run backward.
struct GlobalTimer {
  using Params = conformance::Params;
  static constexpr unsigned threads = 32;
  static TW_DEVICE void run(const Params& params) {
    const std::uint64_t before = isa::global_timer();
    const std::uint64_t after = isa::global_timer();
    put_output(params, isa::thread_index(), after >= before ? 1 : 0);
  }
};

// The architecture leaves open which lane is elected; that it is the same one is the model's claim.
struct ElectOne {
  using Params = conformance::Params;
  static constexpr unsigned threads = 128;
  static TW_DEVICE void run(const Params& params) {
    put_output(params, isa::thread_index(), isa::elect_one() ? 1 : 0);
  }
};

// Rounds of shuffles, each from other lanes; the last names lanes beyond the warp.
struct Shuffle {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    const unsigned lane = thread % 32;
    const std::uint32_t value = get_input(params, thread);
    const unsigned sources[] = {0, 31, 31 - lane, (lane + 7) % 32, lane ^ 16, lane / 2, lane + 40};
    unsigned round = 0;
    for (unsigned source : sources) {
      put_output(params, round++ * threads + thread, isa::shuffle(value, source));
    }
  }
};

struct WarpSync {
  using Params = conformance::Params;
  static constexpr unsigned threads = 64;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    put_shared(thread, get_input(params, thread));
    isa::warp_sync();
    put_output(params, thread, get_shared(thread ^ 21));
  }
};

// The addresses themselves are the machine's own business; how they relate is not.
struct Mapa {
  using Params = conformance::Params;
  static constexpr unsigned threads = 32;
  static TW_DEVICE void run(const Params& params) {
    const unsigned rank = isa::thread_index() % params.count;
    const unsigned next = (rank + 1) % params.count;
    const SharedAddress mapped = isa::mapa(shared_at(0), rank);
    const unsigned first = 3 * (isa::cta_index() * threads + isa::thread_index());
    put_output(params, first, isa::mapa(shared_at(64), rank) - mapped);
    put_output(params, first + 1, isa::mapa(shared_at(0), next) == mapped ? 1 : 0);
    put_output(params, first + 2, isa::mapa(shared_at(1020), rank) - mapped);
  }
};

// Values in registers outlive the change of the budget.
struct Setmaxnreg {
  using Params = conformance::Params;
  static constexpr unsigned threads = 384;
  static TW_DEVICE void run(const Params& params) {
    const unsigned thread = isa::thread_index();
    std::uint32_t values[8];
    TW_UNROLL
    for (unsigned i = 0; i < 8; ++i) values[i] = get_input(params, i * threads + thread);
    if (thread < 128) {
      isa::setmaxnreg_decrease<40>();
    } else {
      isa::setmaxnreg_increase<232>();
    }
    TW_UNROLL
    for (unsigned i = 0; i < 8; ++i) put_output(params, i * threads + thread, ~values[i]);
  }
};

inline std::vector<Program> list_registers() {
  std::vector<Program> programs;
  const auto add = [&](std::string name, Body body, Grid grid, std::size_t input_bytes,
                       std::size_t output_bytes, unsigned count = 0) {
    Program program;
    program.name = std::move(name);
    program.body = body;
    program.grid = grid;
    program.input = {{Fill::Bits, input_bytes, 1}};
    program.output_bytes = output_bytes;
    program.params.count = count;
    programs.push_back(program);
  };
  for (unsigned size : {1u, 2u, 4u}) {
    const std::string suffix = "_cluster_" + std::to_string(size);
    add("special_registers" + suffix, body_of<SpecialRegisters>(), {4, size, 96, 0}, 0,
        4 * 96 * 16);
    add("mapa" + suffix, body_of<Mapa>(), {size, size, 32, 1024}, 0, size * 32 * 12, size);
  }
  add("global_timer", body_of<GlobalTimer>(), {1, 1, 32, 0}, 0, 32 * 4);
  add("elect_one", body_of<ElectOne>(), {1, 1, 128, 0}, 0, 128 * 4);
  add("shuffle", body_of<Shuffle>(), {1, 1, 64, 0}, 64 * 4, 7 * 64 * 4);
  add("warp_sync", body_of<WarpSync>(), {1, 1, 64, 64 * 4}, 64 * 4, 64 * 4);
  add("setmaxnreg", body_of<Setmaxnreg>(), {1, 1, 384, 0}, 384 * 32, 384 * 32);
  return programs;
}

}  // namespace tw::conformance
