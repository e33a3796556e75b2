// The warp-specialised skeleton: the only loops over work tiles and k-tiles.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/grid.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/kernel/key.h"
#include "tilewright/kernel/roles.h"
#include "tilewright/kernel/storing.h"
#include "tilewright/pipeline/mbarrier.h"
#include "tilewright/pipeline/ring.h"
#include "tilewright/pipeline/turns.h"
#include "tilewright/schedule/work_tile.h"

namespace tw::kernel {

// `Parts` binds a family to a target: Ring, Loader, Side, Op, Accumulators, Reduction, Epilogue,
// Schedule, Trace, the role table and where the tiles of a group lie.
template <class Parts>
class WarpSpecialized {
  using Ring = typename Parts::Ring;
  using Loader = typename Parts::Loader;
  using Side = typename Parts::Side;
  using Op = typename Parts::Op;
  using Accumulators = typename Parts::Accumulators;
  using Epilogue = typename Parts::Epilogue;
  using Schedule = typename Parts::Schedule;
  using Sources = typename Parts::Sources;
  using Trace = typename Parts::Trace;
  static constexpr RoleTable roles = Parts::roles;
  static constexpr bool in_turns = roles.consumers == Consumers::PingPong;
  // Where the accumulator lives outside of the multiplying threads, others read it.
  static constexpr bool hands_over = roles.epilogue.played();
  using Order = std::conditional_t<in_turns, Turns<roles.groups, roles.group_warps()>, NoTurns>;
  using Input = Consumer<Ring, Op::release, Trace>;
  // Partial sums of one stage each are added up with another part of that stage.
  static constexpr bool adds_with_side = Ring::Counts::read_by(Role::Epilogue);
  static_assert(!adds_with_side || Accumulators::promote_every == 1,
                "What a stage brings for the sums is of one partial sum.");
  struct Nothing {
    template <class... Arguments>
    TW_DEVICE explicit Nothing(const Arguments&...) {}
  };

 public:
  static constexpr unsigned threads = roles.threads();
  static constexpr unsigned storing_groups = hands_over ? 1 : roles.groups;
  // Of a CTA's timeline: loading, then each group's multiplying, then each group's storing.
  static constexpr unsigned tracks = 1 + roles.groups + storing_groups;

  struct Params {
    typename Loader::Params loader;
    typename Epilogue::Params epilogue;
    typename Schedule::Params schedule;
    typename Parts::Reduction::Params reduction;
    typename Sources::Params sources;
    typename Trace::Params trace;
    typename Side::Params side;
  };

  struct Storage {
    alignas(1024) typename Ring::Tiles tiles[Ring::stages];
    typename Epilogue::Buffers output[storing_groups];
    typename Sources::Storage sources[storing_groups];
    typename Ring::Barriers input;
    typename Order::Barriers turns;
    typename Parts::Reduction::Storage reduction;
    typename Schedule::Storage schedule;
    typename Accumulators::Storage accumulators;
  };

  static TW_DEVICE void run(const Params& params) {
    Storage& storage = *static_cast<Storage*>(isa::dynamic_shared());
    const unsigned thread = isa::thread_index();
    if constexpr (Loader::clears) {
      prepare_operands<(Ring::cluster.size() > 1)>(threads, [&] {
        Loader::clear(isa::shared_address(&storage.tiles[0]), Ring::stages,
                      sizeof(typename Ring::Tiles), thread, threads);
      });
    }
    start_together<(Ring::cluster.size() > 1)>(thread, threads, [&] {
      Ring::init(storage.input, storage.tiles);
      Order::init(storage.turns);
      Schedule::init(storage.schedule);
      Accumulators::init(storage.accumulators);
      Parts::Reduction::init(storage.reduction);
      for (auto& sources : storage.sources) Sources::init(sources);
    });
    // Before anything of an earlier grid is read, or overwritten, by any role.
    if constexpr (Parts::dependent_launch) isa::griddepcontrol_wait();

    // The warp index through a shuffle: the compiler then knows that a warp does not diverge here.
    const unsigned warp = isa::shuffle(thread / 32, 0);
    if (plays<roles.multiply>(warp)) {
      if constexpr (roles.shifts_registers()) {
        isa::setmaxnreg_increase<roles.multiply.registers>();
      }
      const unsigned group = (warp - roles.multiply.first_warp) / roles.group_warps();
      multiply(params, storage, group,
               thread - roles.multiply.first_warp * 32 - group * roles.group_threads());
    } else {
      if constexpr (roles.shifts_registers()) isa::setmaxnreg_decrease<roles.load.registers>();
      help(params, storage, warp, thread);
    }
  }

 private:
  template <RoleSpec role>
  static TW_DEVICE bool plays(unsigned warp) {
    return warp - role.first_warp < role.warps;
  }

  static TW_DEVICE void help(const Params& params, Storage& storage, unsigned warp,
                             unsigned thread) {
    if (plays<roles.load>(warp)) {
      if (!Loader::elected || (warp == roles.load.first_warp && isa::elect_one())) {
        load<Loader, Role::Load>(params.loader, params, storage,
                                 thread - roles.load.first_warp * 32);
      }
    }
    if constexpr (roles.side.played()) {
      if (plays<roles.side>(warp)) {
        load<Side, Role::Side>(params.side, params, storage, thread - roles.side.first_warp * 32);
      }
    }
    if constexpr (roles.schedule.played()) {
      if (plays<roles.schedule>(warp) && isa::elect_one()) schedule(params, storage);
    }
    if constexpr (roles.source.played()) {
      if (plays<roles.source>(warp) && isa::elect_one()) bring_sources(params, storage);
    }
    if constexpr (hands_over) {
      if (plays<roles.epilogue>(warp)) {
        finish(params, storage, thread - roles.epilogue.first_warp * 32);
      }
    }
    Accumulators::leave();
  }

  static TW_DEVICE Trace trace(const Params& params, unsigned track, bool speaks) {
    return Trace(params.trace, isa::cta_index() * tracks + track, speaks);
  }

  // The load role, or the side role; of the two the former speaks for the CTA.
  template <class Loading, Role role>
  static TW_DEVICE void load(const typename Loading::Params& given, const Params& params,
                             Storage& storage, unsigned thread) {
    constexpr bool leads = role == Role::Load;
    isa::describe_role(leads ? "load" : "side");
    const Key key;
    constexpr Release reading = Loading::elected ? Release::Thread : Release::Warp;
    typename Schedule::template Reader<reading> work(params.schedule, storage.schedule, thread);
    Loading loader(given, thread);
    using Output = Producer<Ring, role, Trace>;
    Output input(storage.input, storage.tiles,
                 trace(params, 0, leads && (Loading::elected || thread == 0)));
    {
      Held<typename Output::Token, Loading::stages_held> held;
      for (const WorkTile tile : work.tiles(key)) {
        if constexpr (leads) work.begin();
        for (const int k : tile.k_tiles(key)) {
          auto stage = input.produce();
          loader.load(stage, tile, k);
          held.keep(std::move(stage));
        }
      }
      loader.finish();
    }
    if constexpr (leads && Parts::dependent_launch) isa::griddepcontrol_launch_dependents();
    input.drain();
  }

  static TW_DEVICE void schedule(const Params& params, Storage& storage) {
    isa::describe_role("schedule");
    const Key key;
    typename Schedule::template Reader<Release::Thread> work(params.schedule, storage.schedule, 0);
    typename Schedule::Asker asker(params.schedule, storage.schedule);
    const bool asks = Ring::cluster.size() == 1 || isa::cluster_rank() == 0;
    for ([[maybe_unused]] const WorkTile tile : work.tiles(key)) {
      if (asks) asker.ask();
    }
    if (asks) asker.drain();
  }

  // The epilogue's source tiles, ahead of the epilogue.
  static TW_DEVICE void bring_sources(const Params& params, Storage& storage) {
    isa::describe_role("source");
    const Key key;
    typename Schedule::template Reader<Release::Thread> work(params.schedule, storage.schedule, 0);
    // Groups that share a tile have chunks of their own; those that take turns, tiles.
    typename Sources::Loader first(params.sources, storage.sources[0]);
    typename Sources::Loader second(params.sources, storage.sources[storing_groups - 1]);
    unsigned whose = 0;
    for (const WorkTile tile : work.tiles(key)) {
      const unsigned mine = whose;
      if constexpr (in_turns) whose ^= 1;
      if (!tile.finishes() || params.sources.present == 0) continue;
      for (unsigned chunk = 0; chunk < Sources::chunks; ++chunk) {
        if (!in_turns || mine == 0) first.load(Parts::place(tile, 0), chunk);
        if (storing_groups > 1 && (!in_turns || mine == 1)) {
          second.load(Parts::place(tile, 1), chunk);
        }
      }
    }
    first.drain();
    if constexpr (storing_groups > 1) second.drain();
  }

  // Whole warps enter, for tensor memory is allocated and freed by whole warps; where one thread
  // issues the products, it alone goes round.
  static TW_DEVICE void multiply(const Params& params, Storage& storage, unsigned group,
                                 unsigned thread) {
    isa::describe_role(group == 0 ? "multiply 0" : "multiply 1");
    typename Accumulators::Scope scope(storage.accumulators);
    if (!Op::elected || isa::elect_one()) multiply_tiles(params, storage, scope, group, thread);
    scope.close();
  }

  static TW_DEVICE void multiply_tiles(const Params& params, Storage& storage,
                                       typename Accumulators::Scope& scope, unsigned group,
                                       unsigned thread) {
    const Key key;
    const bool speaks = Op::elected || thread == 0;
    constexpr Release reading = Op::elected ? Release::Thread : Release::Warp;
    typename Schedule::template Reader<reading> work(params.schedule, storage.schedule, thread);
    Input input(storage.input, Op::speaker(thread), trace(params, 1 + group, speaks));
    Op op(isa::shared_address(&storage.tiles[0]), Parts::group_row(group), thread);
    typename Accumulators::Writer accumulators(scope, storage.accumulators);
    Order order(storage.turns, group, thread);
    Storing<Parts, !hands_over> storing(params, storage, group, thread,
                                        trace(params, 1 + roles.groups + group, speaks));
    unsigned late = group * Parts::config.stagger;
    unsigned whose = 0;
    for (const WorkTile tile : work.tiles(key)) {
      if (late > 0) {
        // Only on the first tile, and only if that one fills the stage at all.
        if (static_cast<int>(late) < tile.num_k_tiles()) input.hang_back(late);
        late = 0;
      }
      if constexpr (in_turns) {
        const bool mine = whose == group;
        whose = whose + 1 == roles.groups ? 0 : whose + 1;
        if (!mine) {
          input.skip(tile.num_k_tiles());
          continue;
        }
      }
      // In a pair of CTAs the leader multiplies for both.
      if constexpr (hands_over) {
        if (!op.leads()) continue;
      }
      storing.prepare(tile);
      for (const WorkTile part : tile.sums(key, Accumulators::promote_every)) {
        auto sum = accumulators.acquire();
        {
          const auto turn = order.take();
          Held<typename Input::Token, Op::stages_held> held;
          for ([[maybe_unused]] const int k : part.k_tiles(key)) {
            auto stage = input.consume();
            op.multiply(sum, stage);
            held.keep(std::move(stage));
          }
          op.finish(sum);
        }
        storing.store(sum, tile);
      }
    }
    storing.drain();
    accumulators.drain(op.leads());
  }

  // Where the accumulator is handed over: the sums are read and stored by warps of their own.
  static TW_DEVICE void finish(const Params& params, Storage& storage, unsigned thread) {
    isa::describe_role("epilogue");
    const Key key;
    typename Schedule::template Reader<Release::Warp> work(params.schedule, storage.schedule,
                                                           thread);
    Storing<Parts, true> storing(params, storage, 0, thread,
                                 trace(params, 1 + roles.groups, thread == 0));
    typename Accumulators::Reader accumulators(storage.accumulators, thread);
    using Stages =
        std::conditional_t<adds_with_side, Consumer<Ring, Release::Warp, Trace>, Nothing>;
    [[maybe_unused]] Stages input(storage.input, thread % 32, trace(params, 0, false));
    for (const WorkTile tile : work.tiles(key)) {
      storing.prepare(tile);
      if constexpr (Accumulators::promote_every == 0) {
        const auto sum = accumulators.consume(tile.num_k_tiles() > 0);
        storing.store(sum, tile);
      } else {
        typename Accumulators::Promoted total;
        for (const WorkTile part : tile.sums(key, Accumulators::promote_every)) {
          const auto sum = accumulators.consume(part.num_k_tiles() > 0);
          if constexpr (!adds_with_side) {
            total.add(sum);
          } else if (part.num_k_tiles() > 0) {
            const auto stage = input.consume();
            const SharedAddress tiles = isa::shared_address(&storage.tiles[stage.slot()]);
            total.add(sum, typename Side::Reader(tiles, thread));
          }
        }
        storing.store(total, tile);
      }
    }
    storing.drain();
  }
};

}  // namespace tw::kernel
