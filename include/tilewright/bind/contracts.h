// The binder asks a page of arch/ and a recipe for these members.
#pragma once

#include "tilewright/bind/config.h"
#include "tilewright/kernel/contracts.h"
#include "tilewright/number/scale_type.h"

namespace tw {

// Which parameters the templates of a page take. They are named, not instantiated.
namespace page_template {
template <template <Tiling, RoleTable> class>
struct Loader {};
template <template <auto, Tiling, unsigned> class>
struct Op {};
template <template <auto, class, class> class>
struct Accumulators {};
template <template <auto, class> class>
struct Store {};
template <template <ClusterShape, class, RoleTable> class>
struct Tickets {};
template <template <unsigned, unsigned> class>
struct Turns {};
template <template <ElementType, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned> class>
struct StagedSources {};
template <template <ClusterShape, unsigned, unsigned, unsigned, unsigned> class>
struct ClusterReduction {};
template <template <unsigned, unsigned, unsigned> class>
struct LastFinish {};
template <template <unsigned, unsigned, unsigned, class> class>
struct GroupReduction {};
}  // namespace page_template

// A page of arch/: the target's limits, and which mechanism plays each part.
template <class Page>
consteval bool is_page() {
  static_assert(
      requires { Page::target; },
      "A page must have 'target': its row of the table of targets (arch/target.h).");
  static_assert(
      requires { unsigned{Page::shared_bytes}; },
      "A page must have 'shared_bytes': the shared memory of a CTA.");
  static_assert(
      requires { unsigned{Page::registers}; }, "A page must have 'registers': those of an SM.");
  static_assert(
      requires { bool{Page::in_clusters}; },
      "A page must have 'in_clusters': whether its kernels are launched in clusters.");
  static_assert(
      requires { typename Page::Signal; },
      "A page must have 'Signal': how the ends of a ring wait for each other.");
  static_assert(
      requires { typename page_template::Loader<Page::template Loader>; },
      "A page must have 'template <Tiling, RoleTable> using Loader': who brings A and B.");
  static_assert(
      requires { typename page_template::Op<Page::template Op>; },
      "A page must have 'template <auto config, Tiling, unsigned stage_bytes> using Op': who "
      "multiplies.");
  static_assert(
      requires { typename page_template::Accumulators<Page::template Accumulators>; },
      "A page must have 'template <auto config, class Op, class Trace> using Accumulators': where "
      "sums live, and who holds them.");
  static_assert(
      requires { typename page_template::Store<Page::template Store>; },
      "A page must have 'template <auto config, class Trace> using Store': how D gets to global "
      "memory.");
  static_assert(
      requires(const MatmulConfig& config) { RoleTable{Page::roles(config)}; },
      "A page must have 'roles(config)': the RoleTable of a configuration; it refuses what the "
      "target cannot do.");
  return is_signal<typename Page::Signal>();
}
template <class Page>
concept TargetPage = is_page<Page>();

// Few targets have these: a page is asked where a configuration wants them.
template <class Page>
consteval bool has_tickets() {
  static_assert(
      requires { typename page_template::Tickets<Page::template Tickets>; },
      "A page must have 'template <ClusterShape, class Map, RoleTable> using Tickets' where "
      "scheduling is Dynamic: a schedule that asks for work.");
  return true;
}
template <class Page>
consteval bool has_turns() {
  static_assert(
      requires { typename page_template::Turns<Page::template Turns>; },
      "A page must have 'template <unsigned groups, unsigned group_warps> using Turns' where "
      "consumers are PingPong: how groups take turns.");
  return true;
}
template <class Page>
consteval bool has_staged_sources() {
  static_assert(
      requires { typename page_template::StagedSources<Page::template StagedSources>; },
      "A page must have 'template <ElementType, unsigned...> using StagedSources' where c_stages "
      "is not 0: the role that brings C.");
  return true;
}
template <class Page>
consteval bool has_cluster_reduction() {
  static_assert(
      requires { typename page_template::ClusterReduction<Page::template ClusterReduction>; },
      "A page must have 'template <ClusterShape, unsigned...> using ClusterReduction' where the "
      "split is Cluster: how CTAs of a cluster add up their parts.");
  return true;
}

template <class Page>
consteval bool has_last_finish() {
  static_assert(
      requires { typename page_template::LastFinish<Page::template LastFinish>; },
      "A page must have 'template <unsigned...> using LastFinish' where parts are asked for: "
      "how the CTA whose part comes last finishes a sum.");
  return true;
}

template <class Page>
consteval bool has_group_reduction() {
  static_assert(
      requires { typename page_template::GroupReduction<Page::template GroupReduction>; },
      "A page must have 'template <unsigned..., class Next> using GroupReduction' where groups "
      "share k: how those of a CTA add up their sums.");
  return true;
}

// Which parameters the templates of a recipe take.
namespace recipe_template {
template <template <class, Tiling, RoleTable> class>
struct Loader {};
template <template <Tiling, RoleTable> class>
struct Scales {};
template <template <Tiling, class> class>
struct Stage {};
template <template <Tiling, class, class, RoleArrivals, RoleArrivals> class>
struct Payload {};
template <template <class, Tiling, unsigned> class>
struct Op {};
template <template <MatmulConfig, class> class>
struct Store {};
template <template <MatmulConfig, bool> class>
struct Epilogue {};
template <template <MatmulConfig, Tiling, class> class>
struct Map {};
template <template <class> class>
struct Program {};
}  // namespace recipe_template

// A recipe replaces parts of a matmul. Every member has a matmul's as its default.
template <class Recipe>
consteval bool is_recipe() {
  static_assert(
      requires(const MatmulConfig& config) { MatmulConfig{Recipe::asked(config)}; },
      "A recipe must have 'asked(config)', or MatmulRecipe's: the configuration that the page's "
      "roles and TileOp see.");
  static_assert(
      requires(const RoleTable& table, const MatmulConfig& config) {
        RoleTable{Recipe::roles(table, config)};
      },
      "A recipe must have 'roles(table, config)', or MatmulRecipe's: the page's roles, changed; it "
      "refuses what the family cannot do.");
  static_assert(
      requires { typename recipe_template::Loader<Recipe::template Loader>; },
      "A recipe must have 'template <class Page, Tiling, RoleTable> using Loader', or "
      "MatmulRecipe's: who brings A and B.");
  static_assert(
      requires { typename recipe_template::Scales<Recipe::template Scales>; },
      "A recipe must have 'template <Tiling, RoleTable> using Scales', or MatmulRecipe's: who "
      "brings scales, or NoScales.");
  static_assert(
      requires { typename recipe_template::Stage<Recipe::template Stage>; },
      "A recipe must have 'template <Tiling, class Scales> using Stage', or MatmulRecipe's: the "
      "shared memory of one stage.");
  static_assert(
      requires { typename recipe_template::Payload<Recipe::template Payload>; },
      "A recipe must have 'template <Tiling, class Loader, class Scales, RoleArrivals reads, "
      "RoleArrivals adds> using Payload', or MatmulRecipe's: who fills and who reads the parts of "
      "a stage.");
  static_assert(
      requires { typename recipe_template::Op<Recipe::template Op>; },
      "A recipe must have 'template <class PageOp, Tiling, unsigned stage_bytes> using Op', or "
      "MatmulRecipe's: who multiplies, made of the page's TileOp.");
  static_assert(
      requires { typename recipe_template::Store<Recipe::template Store>; },
      "A recipe must have 'template <MatmulConfig, class PageStore> using Store', or "
      "MatmulRecipe's: how D gets to global memory, made of the page's store.");
  static_assert(
      requires { typename recipe_template::Epilogue<Recipe::template Epilogue>; },
      "A recipe must have 'template <MatmulConfig, bool elected> using Epilogue', or "
      "MatmulRecipe's: what sums go through; 'elected' says whether one thread loads.");
  static_assert(
      requires { typename recipe_template::Map<Recipe::template Map>; },
      "A recipe must have 'template <MatmulConfig, Tiling, class TileMap> using Map', or "
      "MatmulRecipe's: what work there is.");
  static_assert(
      requires { typename recipe_template::Program<Recipe::template Program>; },
      "A recipe must have 'template <class Kernel> using Program', or MatmulRecipe's: the loops "
      "over k.");
  static_assert(
      requires { unsigned{Recipe::b_scale_rows}; },
      "A recipe must have 'b_scale_rows', or MatmulRecipe's: rows of B that share a scale of 128 "
      "of k; 0 where there are no such scales.");
  static_assert(
      requires { bool{Recipe::takes_exponents}; },
      "A recipe must have 'takes_exponents', or MatmulRecipe's: whether scales of 128 of k must be "
      "powers of two.");
  static_assert(
      requires { Recipe::block_scaling; },
      "A recipe must have 'block_scaling', or MatmulRecipe's: who multiplies elements by block "
      "scales.");
  static_assert(
      requires { ScaleType{Recipe::block_scale_type}; },
      "A recipe must have 'block_scale_type', or MatmulRecipe's: the type of block scales.");
  static_assert(
      requires { bool{Recipe::quantises_d}; },
      "A recipe must have 'quantises_d', or MatmulRecipe's: whether D gets block scales of its "
      "own.");
  static_assert(
      requires { Recipe::template beside_bytes<void>(); },
      "A recipe must have 'template <class Scales> beside_bytes()', or MatmulRecipe's: shared "
      "memory of rings that the program has beside its stages.");
  return true;
}
template <class Recipe>
concept KernelRecipe = is_recipe<Recipe>();

}  // namespace tw
