// The binder: a kernel is a target's page, a recipe and a configuration. Every choice of the recipe
// is known before anything is derived from it.
#pragma once

#include "tilewright/bind/choices.h"
#include "tilewright/bind/contracts.h"
#include "tilewright/epilogue/fragment_loop.h"
#include "tilewright/kernel/warp_specialized.h"

namespace tw {

// A recipe is what a family replaces in a matmul, with a matmul's own parts as defaults
// (bind/recipe.h). `Named` carries the configuration, because nvcc cannot spell it as a value.
template <TargetPage Page, class RecipeType, class Named>
struct Kernel : kernel::GroupPlaces<Named::config.tiling.m, Named::config.tiling.n,
                                    Named::config.group_step(), column_groups_of<Page>()> {
  using Target = Page;
  using Recipe = RecipeType;
  static_assert(KernelRecipe<Recipe>);
  static constexpr MatmulConfig config = Named::config.checked();
  static constexpr RoleTable roles =
      Recipe::roles(Target::roles(Recipe::asked(config)).with_lanes(Target::target.lanes), config)
          .checked();
  static_assert(roles.registers() <= roles.launched_registers(Target::registers),
                "Roles ask for more registers than their threads are launched with, and would wait "
                "for them for ever.");
  static constexpr bool in_clusters = Target::in_clusters;
  static constexpr bool dependent_launch = config.dependent_launch != 0;
  using Trace = typename decltype(trace_of<config>())::Type;

  // Operands may lie otherwise in shared memory than they do in global memory.
  using Loader = typename Recipe::template Loader<Target, config.tiling, roles>;
  static_assert(TileLoader<Loader>);
  static constexpr Tiling tiling = Loader::in_shared();
  using Scales = typename Recipe::template Scales<tiling, roles>;
  using Stage = typename Recipe::template Stage<tiling, Scales>;
  using Op = typename Recipe::template Op<
      typename Target::template Op<Recipe::asked(config), tiling, unsigned{sizeof(Stage)}>, tiling,
      unsigned{sizeof(Stage)}>;
  static_assert(TileOp<Op>);
  using Accumulators = typename Target::template Accumulators<config, Op, Trace>;

  // Groups that take turns read stages of their own.
  static constexpr RoleArrivals multiplies = {Role::Multiply,
                                              Op::releases* config.groups_per_tile()};
  static constexpr RoleArrivals adds =
      roles.epilogue.played() ? RoleArrivals{Role::Epilogue, roles.epilogue.warps} : multiplies;
  using Payload = typename Recipe::template Payload<tiling, Loader, Scales, multiplies, adds>;

  using Store =
      typename Recipe::template Store<config, typename Target::template Store<config, Trace>>;
  using Epilogue = FragmentLoop<typename Recipe::template Epilogue<config, Loader::elected>, Store>;
  static_assert(TileStore<Store> && ends_as_asked<config, roles, Epilogue, Store>());
  using Sources = typename decltype(sources_of<config, Target, Store>())::Type;
  using Reduction = typename decltype(reduction_of<config, Target, roles, Store>())::Type;
  using Order = typename decltype(order_of<config>())::Type;
  using Turns = typename decltype(turns_of<Target, roles>())::Type;
  using Map =
      typename decltype(dealt_of<config, Target,
                                 typename Recipe::template Map<
                                     config, tiling,
                                     typename decltype(tile_map_of<config>())::Type>>())::Type;
  using Schedule = typename decltype(schedule_of<config, Target, roles, Map>())::Type;
  static_assert(SourceSupply<Sources> && SumReduction<Reduction> && TileOrder<Order> &&
                WorkMap<Map> && WorkSchedule<Schedule>);

  static constexpr unsigned stages =
      stages_that_fit<config, Target, roles, Stage, Store, Sources, Reduction,
                      Recipe::template beside_bytes<Scales>()>();
  static_assert(stages >= least_stages<Target>(),
                "Fewer stages fit than are needed: the tile is too large.");
  static_assert(Loader::stages_held < stages,
                "A ring with fewer stages than are held would never let go of one.");
  static_assert(config.stagger * (roles.groups - 1) < stages,
                "A group that starts this late would wait for a stage that cannot be filled yet.");
  template <unsigned depth>
  using RingOf = tw::Ring<Payload, depth, typename Target::Signal, tiling.cluster, tiling.group>;
  using Ring = RingOf<stages>;
  static_assert(signals<typename Target::Signal, Ring>());
  static_assert(every_role_is_played<Payload>(roles),
                "A part of a stage is loaded by a role that nobody plays.");
};

}  // namespace tw
