// The streaming skeleton: memory goes through registers once, and no matrix instruction is needed.
// All threads play one role; latency is hidden by many outstanding loads and several CTAs per SM,
// so that there is neither ring nor stage.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/grid.h"
#include "tilewright/isa/threads.h"
#include "tilewright/kernel/contracts.h"

namespace tw::kernel {

// `Kernel` binds a family to a target: its Stream takes one tile at a time, in registers.
template <class Kernel>
class Streaming {
  using Stream = typename Kernel::Stream;
  static_assert(TileStream<Stream>);
  // A stream has no rings: on its timeline a tile is what its CTA goes through at once.
  using Trace = typename Kernel::Trace;

 public:
  static constexpr unsigned threads = Stream::threads;
  static constexpr unsigned least_ctas = Stream::least_ctas;  // on an SM
  static constexpr bool dependent_launch = Kernel::dependent_launch;

  struct Params {
    typename Stream::Params stream;
    unsigned tiles;
    typename Trace::Params trace;
  };
  using Storage = typename Stream::Storage;

  static TW_DEVICE void run(const Params& params) {
    isa::describe_role("stream");
    Stream stream(params.stream, *static_cast<Storage*>(isa::dynamic_shared()),
                  isa::thread_index());
    if constexpr (dependent_launch) {
      // The stream may ask for memory that no earlier grid writes before those grids have ended.
      stream.ask_early(isa::cta_index());
      isa::griddepcontrol_wait();
      isa::griddepcontrol_launch_dependents();
    }
    Trace trace(params.trace, isa::cta_index(), isa::thread_index() == 0);
    for (unsigned tile = isa::cta_index(); tile < params.tiles; tile += isa::cta_count()) {
      trace.waits(0);
      trace.goes();
      stream.pass(tile);
      trace.releases();
    }
  }
};

}  // namespace tw::kernel
