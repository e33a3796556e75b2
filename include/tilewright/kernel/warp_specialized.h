// The warp-specialised skeleton: the only loops over work tiles and k-tiles.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/barrier.h"
#include "tilewright/isa/ptx/sreg.h"
#include "tilewright/isa/ptx/warp.h"
#include "tilewright/kernel/key.h"
#include "tilewright/kernel/roles.h"
#include "tilewright/pipeline/ring.h"
#include "tilewright/pipeline/start.h"
#include "tilewright/pipeline/turns.h"
#include "tilewright/schedule/work_tile.h"

namespace tw::kernel {

// `Parts` binds a family to a target: Ring, Loader, Op, Epilogue, Schedule, Trace, the role table
// and where the tiles of a group lie.
template <class Parts>
class WarpSpecialized {
  using Ring = typename Parts::Ring;
  using Op = typename Parts::Op;
  using Trace = typename Parts::Trace;
  using Epilogue = typename Parts::Epilogue;
  static constexpr RoleTable roles = Parts::roles;
  static constexpr bool in_turns = roles.consumers == Consumers::PingPong;
  using Order = std::conditional_t<in_turns, Turns<roles.multiply_groups>, NoTurns>;

 public:
  static constexpr unsigned threads = roles.threads();
  // Of a CTA's timeline: loading, then each group's multiplying, then each group's storing.
  static constexpr unsigned tracks = 1 + 2 * roles.multiply_groups;

  struct Params {
    typename Parts::Loader::Params loader;
    typename Epilogue::Params epilogue;
    typename Parts::Schedule::Params schedule;
    // Not [[no_unique_address]]: nvcc 13.0 then declares the kernel's parameter twice as large as
    // sizeof, and a launch reads beyond the object.
    typename Trace::Params trace;
  };

  struct Storage {
    alignas(1024) typename Ring::Tiles tiles[Ring::stages];
    typename Epilogue::Output::Buffers output[roles.multiply_groups];
    typename Ring::Barriers input;
    [[no_unique_address]] typename Order::Barriers turns;
  };

  static TW_DEVICE void run(const Params& params) {
    Storage& storage = *static_cast<Storage*>(isa::dynamic_shared());
    const unsigned thread = isa::thread_index();
    start_together(thread, [&] {
      Ring::init(storage.input, storage.tiles);
      Order::init(storage.turns);
    });

    // The warp index through a shuffle: the compiler then knows that a warp does not diverge here.
    const unsigned warp = isa::shuffle(thread / 32, 0);
    const unsigned group = warp / 4;
    if (group == 0) {
      isa::setmaxnreg_decrease<roles.load_registers>();
      if (warp == 0 && isa::elect_one()) load(params, storage);
    } else {
      isa::setmaxnreg_increase<roles.multiply_registers>();
      multiply(params, storage, group - 1, thread % RoleTable::group_threads);
    }
  }

 private:
  static TW_DEVICE Trace trace(const Params& params, unsigned track, bool speaks) {
    return Trace(params.trace, isa::cta_index() * tracks + track, speaks);
  }

  static TW_DEVICE void load(const Params& params, Storage& storage) {
    isa::describe_role("load");
    const Key key;
    const typename Parts::Schedule schedule(params.schedule);
    typename Parts::Loader loader(params.loader);
    Producer<Ring, Trace> input(storage.input, storage.tiles, trace(params, 0, true));
    for (const WorkTile tile : schedule.work(key)) {
      for (const int k : tile.k_tiles(key)) {
        auto stage = input.produce();
        loader.load(stage, tile, k);
      }
    }
    input.drain();
  }

  static TW_DEVICE void multiply(const Params& params, Storage& storage, unsigned group,
                                 unsigned thread_in_group) {
    isa::describe_role(group == 0 ? "multiply 0" : "multiply 1");
    const Key key;
    const typename Parts::Schedule schedule(params.schedule);
    const bool speaks = thread_in_group == 0;
    Consumer<Ring, Trace> input(storage.input, thread_in_group, trace(params, 1 + group, speaks));
    Op op = Parts::op(storage.tiles[0], group);
    // Barrier 0 is the CTA's; each group has one of its own.
    Epilogue epilogue(params.epilogue, storage.output[group], 1 + group, thread_in_group,
                      trace(params, 1 + roles.multiply_groups + group, speaks));
    Order order(storage.turns, group, thread_in_group);

    unsigned late = group * Parts::config.stagger;
    unsigned whose = 0;
    for (const WorkTile tile : schedule.work(key)) {
      if (late > 0) {
        // Only on the first tile, and only if that one fills the stage at all.
        if (static_cast<int>(late) < tile.num_k_tiles()) input.hang_back(late);
        late = 0;
      }
      if constexpr (in_turns) {
        const bool mine = whose == group;
        whose = whose + 1 == roles.multiply_groups ? 0 : whose + 1;
        if (!mine) {
          input.skip(tile.num_k_tiles());
          continue;
        }
      }
      typename Op::Accumulator sum;
      {
        const auto turn = order.take();
        Held<typename Consumer<Ring, Trace>::Token, Op::stages_held> held;
        for ([[maybe_unused]] const int k : tile.k_tiles(key)) {
          auto stage = input.consume();
          op.multiply(sum, stage);
          held.keep(std::move(stage));
        }
        op.finish(sum);
      }
      epilogue.store(sum, Parts::row(tile, group), Parts::column(tile));
    }
    epilogue.drain();
  }
};

}  // namespace tw::kernel
