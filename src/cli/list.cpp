// ./tw list: what there is, and where it can run in this build.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/command.h"
#include "src/matmul/instance.h"

namespace tw::cli {

void add_list(CLI::App& app, Verdict&) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("list", "families, targets, types and instances");
  command->add_flag("--json", *json, "print the list as JSON last");
  command->callback([json] {
    nlohmann::json entries = nlohmann::json::array();
    fmt::print("{:<8} {:<6} {:<20} {:<22} {:>8} {:>8} {:<12} {:>6}  {}\n", "family", "target",
               "types", "instance", "tile", "cluster", "consumers", "stages", "built for");
    for (const MatmulInstance& instance : matmul_instances()) {
      const MatmulConfig& config = instance.config;
      const std::string tile = fmt::format("{}x{}", config.tile_m, config.tile_n);
      const std::string cluster = fmt::format("{}x{}", config.cluster.m, config.cluster.n);
      const char* consumers =
          config.consumers == Consumers::Cooperative ? "cooperative" : "ping-pong";
      const std::string built =
          fmt::format("{}{}{}", instance.simulate != nullptr ? "virtual GPU" : "",
                      instance.simulate != nullptr && instance.launch != nullptr ? ", " : "",
                      instance.launch != nullptr ? "sm_90a" : "");
      fmt::print("{:<8} {:<6} {:<20} {:<22} {:>8} {:>8} {:<12} {:>6}  {}\n", "matmul", "sm90a",
                 "bf16 x bf16 -> bf16", instance.name, tile, cluster, consumers, instance.stages,
                 built);
      entries.push_back({{"family", "matmul"},
                         {"target", "sm90a"},
                         {"instance", instance.name},
                         {"tile", tile},
                         {"cluster", cluster},
                         {"consumers", consumers},
                         {"stages", instance.stages},
                         {"virtual", instance.simulate != nullptr},
                         {"gpu", instance.launch != nullptr}});
    }
    if (*json) fmt::print("{}\n", entries.dump());
  });
}

}  // namespace tw::cli
