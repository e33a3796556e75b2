// The warp-specialised skeleton, and the program of a matmul: the only loops over work tiles and
// k-tiles. The skeleton plays the roles and knows nothing of k; the loops over k are a program over
// the rings that it names.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/grid.h"
#include "tilewright/isa/threads.h"
#include "tilewright/kernel/adds.h"
#include "tilewright/kernel/contracts.h"
#include "tilewright/kernel/key.h"
#include "tilewright/kernel/storing.h"
#include "tilewright/kernel/storing_groups.h"
#include "tilewright/kernel/tracks.h"
#include "tilewright/pipeline/ring.h"
#include "tilewright/pipeline/together.h"
#include "tilewright/schedule/work_tile.h"

namespace tw::kernel {

// The loading end of one ring, in the hands of `role`: a stage for every k-tile.
template <class Ring, Role role, class Loader, class Trace>
class Loading {
  using Output = Producer<Ring, role, Trace>;

 public:
  static constexpr bool elected = Loader::elected;
  static constexpr Role plays = role;
  // Whether this role itself waits for the grids before, because it may load weights earlier.
  static constexpr bool waits = Loader::loads_weights_first;
  // Whether copies that reach nobody else may be issued before the cluster has met.
  static constexpr bool begins_alone = Loader::loads_own_first;
  // True where each warp of the role fills slots of its own; a slot is still filled once a lap.
  static constexpr bool apart = Loader::fills_apart;

  TW_DEVICE Loading(const typename Loader::Params& params, typename Ring::Barriers& barriers,
                    typename Ring::Tiles* tiles, unsigned thread, Trace trace)
      : loader_(params, thread), output_(barriers, tiles, trace) {}

  // Before the cluster has met: what nobody else gets of the first tile, into its first stages, of
  // which the number is returned. More than three are issued too late to gain anything.
  template <bool dependent_launch, class Work>
  TW_DEVICE int begin_alone(Work& work, const Key& key) {
    for (const WorkTile tile : work.tiles(key)) {
      if constexpr (dependent_launch) {
        if (!waits || !tile.weights_are_constant) isa::griddepcontrol_wait();
      }
      constexpr int most = Ring::stages < 3 ? Ring::stages : 3;
      const int count = tile.num_k_tiles() < most ? tile.num_k_tiles() : most;
      for (int i = 0; i < count; ++i) {
        loader_.load_own(output_.ahead(static_cast<unsigned>(i)), tile, tile.k_begin + i);
      }
      return count;
    }
    return 0;
  }
  // That number, for who goes on.
  TW_DEVICE void go_on(int begun) { begun_ = begun; }

  // All work. Of several roles that load, one leads: it says when it begins with a tile.
  template <bool leads, class Work>
  TW_DEVICE void load(Work& work, const Key& key) {
    static_assert(loads_stages<Loader, typename Output::Token, WorkTile>());
    Held<typename Output::Token, Loader::stages_held> held;
    [[maybe_unused]] bool has_waited = false;
    [[maybe_unused]] int begun = begun_;  // stages of which a part is on its way
    for (const WorkTile tile : work.tiles(key)) {
      if constexpr (leads) work.begin();
      if constexpr (waits) {
        if (!has_waited) begun = begin(tile);
        has_waited = true;
      }
      for (const int k : tile.k_tiles(key)) {
        if constexpr (apart) {
          if (!loader_.fills(output_.next_slot())) {
            output_.pass();
            continue;
          }
        }
        auto stage = output_.produce();
        if constexpr (Ring::Counts::bytes_are_given) stage.expect(loader_.stage_bytes());
        fill(stage, tile, k, begun);
        held.keep(std::move(stage));
      }
    }
    loader_.finish();
  }
  TW_DEVICE void drain() { output_.drain(); }

 private:
  template <class Stage>
  TW_DEVICE void fill(const Stage& stage, const WorkTile& tile, int k,
                      [[maybe_unused]] int& begun) {
    if constexpr (begins_alone) {
      if (begun > 0)
        --begun;
      else
        loader_.load_own(stage, tile, k);
      loader_.load_rest(stage, tile, k);
    } else {
      if constexpr (waits) {
        if (begun > 0) {
          --begun;
          loader_.load_rest(stage, tile, k);
          return;
        }
      }
      loader_.load(stage, tile, k);
    }
  }
  // Weights of the first tile into as many stages as it fills, and then the wait for the grids
  // before.
  TW_DEVICE int begin(const WorkTile& tile) {
    int count = begun_;
    if (tile.weights_are_constant) {
      constexpr int stages = Ring::stages;
      count = tile.num_k_tiles() < stages ? tile.num_k_tiles() : stages;
      for (int i = begun_; i < count; ++i) {
        loader_.load_weights(output_.ahead(static_cast<unsigned>(i)), tile, tile.k_begin + i);
      }
    }
    isa::griddepcontrol_wait();
    return count;
  }

  Loader loader_;
  Output output_;
  int begun_ = 0;
};

// The program of a matmul: one ring, `input`, and one product for each of its stages. Where stages
// have scales, a role of its own brings them.
template <class Kernel>
struct OneProduct {
  using Ring = typename Kernel::Ring;
  using Op = typename Kernel::Op;
  using Loader = typename Kernel::Loader;
  using Scales = typename Kernel::Scales;
  using Trace = typename Kernel::Trace;
  using LoaderParams = typename Loader::Params;
  using OwnParams = typename Scales::Params;
  static constexpr bool reads_scales_in_epilogue = Ring::Counts::read_by(Role::Epilogue);
  static_assert(!reads_scales_in_epilogue || Kernel::Accumulators::promote_every == 1,
                "The scales of a stage are of one partial sum.");

  struct Stages {
    alignas(1024) typename Ring::Tiles input[Ring::stages];
  };
  struct Signals {
    typename Ring::Barriers input;
  };
  static TW_DEVICE void init(Signals& signals, Stages& stages) {
    Ring::init(signals.input, stages.input);
  }
  // Before the start, by all threads: what no copy fills.
  static constexpr bool clears = Loader::clears;
  static TW_DEVICE void clear(Stages& stages, unsigned thread, unsigned threads) {
    Loader::clear(Ring::tensors(stages.input).a, Ring::stages, thread, threads);
  }

  // A role that loads into a ring of the program, which has these members for it.
  template <Role role, class By, class Into = Ring, auto barriers = &Signals::input,
            auto tiles = &Stages::input>
  struct LoadsInto : Loading<Into, role, By, Trace> {
    template <class Given, class Memory>
    TW_DEVICE LoadsInto(const typename By::Params& params, Given& signals, Memory& stages,
                        unsigned thread, Trace trace)
        : Loading<Into, role, By, Trace>(params, signals.*barriers, stages.*tiles, thread, trace) {}
  };
  using Loads = LoadsInto<Role::Load, Loader>;
  // What the program's own roles do, by their place in the role table.
  template <unsigned>
  using Own = LoadsInto<Role::LoadScales, Scales>;

  class Multiplies {
    using Input = Consumer<Ring, Op::release, Trace>;

   public:
    TW_DEVICE Multiplies(const OwnParams&, Signals& signals, Stages& stages, unsigned group,
                         unsigned thread, Trace trace)
        : turn_(static_cast<int>(group)),
          input_(signals.input, Op::speaker(thread), trace),
          op_(Ring::tensors(stages.input), group * Kernel::group_step, thread) {}

    // In a pair of CTAs the leader multiplies for both.
    TW_DEVICE bool leads() const { return op_.leads(); }
    TW_DEVICE void hang_back(unsigned stages) { input_.await_ahead(stages); }
    // A tile that another group multiplies.
    TW_DEVICE void skip(const WorkTile& tile) { input_.skip(tile.num_k_tiles()); }
    template <class Sum>
    TW_DEVICE void multiply(Sum& sum, const WorkTile& part, const Key& key) {
      static_assert(multiplies_stages<Op, Sum, typename Input::Token>());
      Held<typename Input::Token, Op::stages_held> held;
      const CountRange tiles = part.k_tiles(key);
      for (auto k = tiles.begin(); k != tiles.end(); ++k) {
        if constexpr (by_stages) {
          // Those of other groups before the next own one, or all that are left.
          const int others = turn_ < tiles.last - *k ? turn_ : tiles.last - *k;
          input_.skip(static_cast<unsigned>(others));
          k = {*k + others};
          turn_ -= others;
          if (!(k != tiles.end())) break;
          turn_ = Kernel::roles.groups - 1;
        }
        auto stage = input_.consume();
        if constexpr (Op::takes_two) {
          if (*k + 1 != tiles.last) {
            ++k;
            op_.multiply(sum, stage, [&] { return input_.consume(); });
            continue;
          }
        }
        op_.multiply(sum, stage);
        held.keep(std::move(stage));
      }
      op_.finish(sum);
    }

   protected:
    // Groups that share k take stages in turn, from one tile to the next.
    static constexpr bool by_stages = Kernel::roles.consumers == Consumers::AlongK;
    static_assert(!by_stages || !Op::takes_two, "A TileOp that takes two stages takes neighbours.");

    int turn_;  // so many stages of others come before the next own one
    Input input_;
    Op op_;
  };

  using Adds = std::conditional_t<reads_scales_in_epilogue, AddsWithScales<OneProduct, Kernel>,
                                  AddsPlainly<OneProduct, Kernel>>;
};

// `Kernel` binds a recipe to a target (bind/kernel.h).
template <class Kernel>
class WarpSpecialized {
  using Program = typename Kernel::Recipe::template Program<Kernel>;
  static_assert(KernelProgram<Program>);
  using Op = typename Kernel::Op;
  using Accumulators = typename Kernel::Accumulators;
  using Epilogue = typename Kernel::Epilogue;
  using Schedule = typename Kernel::Schedule;
  using Sources = typename Kernel::Sources;
  using Trace = typename Kernel::Trace;
  static constexpr RoleTable roles = Kernel::roles;
  static constexpr unsigned group_threads = roles.group_threads();
  static constexpr bool in_cluster = runs_in_cluster<Kernel>;
  static constexpr bool in_turns = roles.consumers == Consumers::PingPong;
  // Where the accumulator lives outside of the multiplying threads, others read it.
  static constexpr bool hands_over = roles.epilogue.played();
  using Order = typename Kernel::Turns;
  static constexpr bool loads_wait = Program::Loads::waits;
  // The thread that initialises signals issues the first copies, for it need not wait for itself.
  static constexpr bool begins_alone = in_cluster && Program::Loads::begins_alone &&
                                       Program::Loads::elected && Schedule::knows_first &&
                                       roles.load.first_warp == 0;

 public:
  static constexpr unsigned threads = roles.threads();
  static constexpr unsigned least_ctas = roles.residents;
  static constexpr unsigned cluster_size = Kernel::tiling.cluster.size();
  static constexpr unsigned storing_groups = roles.storing_groups();
  using Track = kernel::Tracks<roles, storing_groups>;
  static constexpr unsigned tracks = Track::count;

  struct Params {
    typename Schedule::Params schedule;  // first, for the first copy waits for it
    typename Kernel::Reduction::Params reduction;
    typename Trace::Params trace;
    typename Sources::Params sources;
    typename Program::OwnParams own;
    typename Program::LoaderParams loader;
    typename Epilogue::Params epilogue;
  };

  struct Storage {
    typename Program::Stages stages;
    typename Epilogue::Buffers output[storing_groups];
    typename Sources::Storage sources[storing_groups];
    typename Program::Signals signals;
    typename Order::Barriers turns;
    typename Kernel::Reduction::Storage reduction;
    typename Schedule::Storage schedule;
    typename Accumulators::Storage accumulators;
  };
  // Shared memory of some targets begins at address 0, where tokens take a signal for none.
  static_assert(!std::is_empty_v<typename Program::Stages>,
                "Stages come first, so that no signal lies at address 0.");

  static TW_DEVICE void run(const Params& params) {
    Storage& storage = *static_cast<Storage*>(isa::dynamic_shared());
    const unsigned thread = isa::thread_index();
    if constexpr (Program::clears) {
      prepare_operands<in_cluster>(threads,
                                   [&] { Program::clear(storage.stages, thread, threads); });
    }
    const auto init = [&] {
      Program::init(storage.signals, storage.stages);
      Order::init(storage.turns);
      Schedule::init(storage.schedule);
      Accumulators::init(storage.accumulators);
      Kernel::Reduction::init(storage.reduction);
      for (auto& sources : storage.sources) Sources::init(sources);
    };
    int begun = 0;  // stages of which the load role has a part, in all of its first warp's lanes
    start_together<in_cluster>(thread, threads, init, [&] {
      if constexpr (begins_alone) {
        if (thread == 0) begun = begin_alone(params, storage);
        if (thread < roles.lanes) begun = static_cast<int>(isa::shuffle(begun, 0));
      }
    });
    // Before anything of an earlier grid is read, or overwritten, by any role.
    if constexpr (Kernel::dependent_launch && !loads_wait) isa::griddepcontrol_wait();

    // The warp index through a shuffle: the compiler then knows that a warp does not diverge here.
    const unsigned warp = isa::shuffle(thread / roles.lanes, 0);
    if constexpr (loads_wait) {
      static_assert(Kernel::dependent_launch, "Weights come first where launches overlap.");
      if (!plays<roles.load>(warp)) isa::griddepcontrol_wait();
    }
    if constexpr (roles.holds_in_epilogue()) let_registers_go<roles>(warp);
    if (plays<roles.multiply>(warp)) {
      if constexpr (roles.shifts_registers()) isa::setmaxnreg_increase<roles.multiply.registers>();
      const unsigned group = (warp - roles.multiply.first_warp) / (group_threads / roles.lanes);
      multiply(params, storage, group,
               thread - roles.multiply.first_warp * roles.lanes - group * group_threads);
    } else {
      if constexpr (roles.shifts_registers()) isa::setmaxnreg_decrease<roles.load.registers>();
      help(params, storage, warp, thread, begun);
    }
  }

 private:
  template <RoleSpec role>
  static TW_DEVICE bool plays(unsigned warp) {
    return warp - role.first_warp < role.warps;
  }

  // The load role's first copies, those that only this CTA gets.
  static TW_DEVICE int begin_alone(const Params& params, Storage& storage) {
    isa::describe_role<Program::Loads::plays>();
    const Key key;
    typename Program::Loads loads(params.loader, storage.signals, storage.stages, 0,
                                  trace(params, 0, false));
    typename Schedule::template Reader<Release::Thread> work(params.schedule, storage.schedule, 0);
    return loads.template begin_alone<Kernel::dependent_launch>(work, key);
  }

  static TW_DEVICE void help(const Params& params, Storage& storage, unsigned warp, unsigned thread,
                             [[maybe_unused]] int begun) {
    if (plays<roles.load>(warp)) {
      if (!Program::Loads::elected || (warp == roles.load.first_warp && isa::elect_one())) {
        load<typename Program::Loads, true>(params.loader, params, storage,
                                            thread - roles.load.first_warp * roles.lanes, begun);
      }
    }
    play_own<0>(params, storage, warp, thread);
    play_own<1>(params, storage, warp, thread);
    if constexpr (roles.schedule.played()) {
      if (plays<roles.schedule>(warp) && isa::elect_one()) schedule(params, storage);
    }
    if constexpr (roles.source.played()) {
      if (plays<roles.source>(warp) && isa::elect_one()) {
        bring_sources(params, storage, std::make_index_sequence<storing_groups>());
      }
    }
    if constexpr (hands_over) {
      if (plays<roles.epilogue>(warp)) {
        take_registers<roles>();
        finish(params, storage, thread - roles.epilogue.first_warp * roles.lanes);
      }
    }
    Accumulators::leave();
  }
  template <unsigned index>
  static TW_DEVICE void play_own(const Params& params, Storage& storage, unsigned warp,
                                 unsigned thread) {
    constexpr RoleSpec role = roles.own[index].spec;
    if constexpr (role.played()) {
      using Own = typename Program::template Own<index>;
      if (!plays<role>(warp)) return;
      if (!Own::elected || (warp == role.first_warp && isa::elect_one())) {
        load<Own, false>(params.own, params, storage, thread - role.first_warp * roles.lanes);
      }
    }
  }

  static TW_DEVICE Trace trace(const Params& params, unsigned track, bool speaks) {
    return Trace(params.trace, isa::cta_index() * tracks + track, speaks);
  }

  // A role that loads; the one that leads also speaks for the CTA.
  template <class Loads, bool leads, class Given>
  static TW_DEVICE void load(const Given& given, const Params& params, Storage& storage,
                             unsigned thread, [[maybe_unused]] int begun = 0) {
    isa::describe_role<Loads::plays>();
    const Key key;
    constexpr Release reading = Loads::elected ? Release::Thread : Release::Warp;
    typename Schedule::template Reader<reading> work(params.schedule, storage.schedule, thread);
    const Trace own =
        trace(params, Track::template of<Loads, leads>, Loads::elected || thread == 0);
    Loads loads = [&] {
      if constexpr (requires { Loads::uses_accumulators; }) {
        return Loads(given, storage.signals, storage.stages, storage.accumulators, thread, own);
      } else {
        return Loads(given, storage.signals, storage.stages, thread, own);
      }
    }();
    if constexpr (leads && begins_alone) loads.go_on(begun);
    loads.template load<leads>(work, key);
    if constexpr (leads && Kernel::dependent_launch) isa::griddepcontrol_launch_dependents();
    loads.drain();
  }

  static TW_DEVICE void schedule(const Params& params, Storage& storage) {
    isa::describe_role("schedule");
    const Key key;
    typename Schedule::template Reader<Release::Thread> work(params.schedule, storage.schedule, 0);
    static_assert(is_asked<Schedule, Trace>());
    const bool asks = !in_cluster || isa::cluster_rank() == 0;
    typename Schedule::template Asker<Trace> asker(params.schedule, storage.schedule,
                                                   trace(params, Track::schedule, asks));
    for (const bool is_there : work.offers(key)) {
      if (asks) asker.ask(is_there);
    }
    if (asks) asker.drain();
  }

  // The epilogue's source tiles, ahead of the epilogue. Groups that share a tile have chunks of
  // their own; those that take turns, tiles.
  template <std::size_t... groups>
  static TW_DEVICE void bring_sources(const Params& params, Storage& storage,
                                      std::index_sequence<groups...>) {
    isa::describe_role("source");
    const Key key;
    typename Schedule::template Reader<Release::Thread> work(params.schedule, storage.schedule, 0);
    // The last group's comes first: kernels then have the registers of separate loaders.
    constexpr unsigned last = storing_groups - 1;
    typename Sources::template Loader<Trace> loaders[] = {
        {params.sources, storage.sources[last - groups],
         trace(params, Track::source + last - groups, true)}...};
    unsigned whose = 0;
    for (const WorkTile tile : work.tiles(key)) {
      const unsigned mine = whose;
      if constexpr (in_turns) whose ^= 1;
      if (!tile.finishes() || params.sources.present == 0) continue;
      for (unsigned chunk = 0; chunk < Sources::chunks; ++chunk) {
        ((in_turns && mine != groups
              ? void()
              : loaders[last - groups].load(Kernel::place(tile, groups), chunk)),
         ...);
      }
    }
    (loaders[last - groups].drain(), ...);
  }

  // Whole warps enter, for tensor memory is allocated and freed by whole warps, as the scope begins
  // and ends; where one thread issues the products, it alone goes round.
  static TW_DEVICE void multiply(const Params& params, Storage& storage, unsigned group,
                                 unsigned thread) {
    constexpr const char* names[] = {"multiply 0", "multiply 1", "multiply 2", "multiply 3"};
    isa::describe_role(names[group]);
    typename Accumulators::Scope scope(storage.accumulators);
    if (!Op::elected || isa::elect_one()) multiply_tiles(params, storage, scope, group, thread);
  }

  static TW_DEVICE void multiply_tiles(const Params& params, Storage& storage,
                                       typename Accumulators::Scope& scope, unsigned group,
                                       unsigned thread) {
    const Key key;
    const bool speaks = Op::elected || thread == 0;
    constexpr Release reading = Op::elected ? Release::Thread : Release::Warp;
    typename Schedule::template Reader<reading> work(params.schedule, storage.schedule, thread);
    typename Program::Multiplies program(params.own, storage.signals, storage.stages, group, thread,
                                         trace(params, Track::multiply + group, speaks));
    typename Accumulators::Writer accumulators(scope, storage.accumulators);
    Order order(storage.turns, group, thread);
    Storing<Kernel, !hands_over> storing(params, storage, group, thread,
                                         trace(params, Track::store + group, speaks));
    [[maybe_unused]] unsigned late = group * Kernel::config.stagger;
    unsigned whose = 0;
    for (const WorkTile tile : work.tiles(key)) {
      work.look_ahead();
      if constexpr (Kernel::config.stagger > 0) {
        if (late > 0) {
          // Only on the first tile, and only if that one fills the stage at all.
          if (static_cast<int>(late) < tile.num_k_tiles()) program.hang_back(late);
          late = 0;
        }
      }
      if constexpr (in_turns) {
        const bool mine = whose == group;
        whose = whose + 1 == roles.groups ? 0 : whose + 1;
        if (!mine) {
          program.skip(tile);
          continue;
        }
      }
      if constexpr (hands_over) {
        if (!program.leads()) continue;
      }
      storing.prepare(tile);
      for (const WorkTile part : tile.sums(key, Accumulators::promote_every)) {
        auto sum = accumulators.acquire();
        storing.begin(sum, tile);
        {
          const auto turn = order.take();
          program.multiply(sum, part, key);
        }
        storing.store(sum, tile);
      }
    }
    storing.drain();
    accumulators.drain(program.leads());
  }

  // Where the accumulator is handed over: the sums are read and stored by warps of their own.
  static TW_DEVICE void finish(const Params& params, Storage& storage, unsigned thread) {
    isa::describe_role("epilogue");
    const Key key;
    typename Schedule::template Reader<Release::Warp> work(params.schedule, storage.schedule,
                                                           thread);
    const auto [group, in_group] = storing_thread<roles>(thread);
    Storing<Kernel, true> storing(params, storage, group, in_group,
                                  trace(params, Track::store + group, in_group == 0));
    typename Accumulators::Reader accumulators(storage.accumulators, thread);
    [[maybe_unused]]
    typename Program::Adds adds(storage.signals, storage.stages, thread, trace(params, 0, false));
    for (const WorkTile tile : work.tiles(key)) {
      storing.prepare(tile);
      if constexpr (requires { adds.correct(accumulators, storing, tile, key); }) {
        adds.correct(accumulators, storing, tile, key);
      } else if constexpr (Accumulators::promote_every == 0) {
        const auto sum = accumulators.consume(tile.num_k_tiles() > 0);
        storing.store(sum, tile);
      } else {
        typename Accumulators::Promoted total;
        for (const WorkTile part : tile.sums(key, Accumulators::promote_every)) {
          const auto sum = accumulators.consume(part.num_k_tiles() > 0);
          adds.add(total, sum, part.num_k_tiles() > 0);
        }
        storing.store(total, tile);
      }
    }
    storing.drain();
  }
};

}  // namespace tw::kernel
