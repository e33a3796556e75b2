// ./tw list: what there is, and where it can run in this build.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/command.h"
#include "src/instances/plugin.h"
#include "src/verify/instance_words.h"
#include "src/verify/trials.h"

namespace tw::cli {

void add_list(CLI::App& app, Verdict& verdict) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("list", "families, targets, types and instances");
  command->add_flag("--json", *json, "print the list as JSON last");
  command->callback([json, &verdict] {
    OpenedPlugin opened;
    const char* const named = std::getenv("TW_PLUGIN");
    if (named != nullptr && *named != 0) {
      const Status status = open_plugin(opened, named);
      if (!status.is_good()) return verdict.refuse("TW_PLUGIN: " + status.sentence());
    }
    nlohmann::json entries = nlohmann::json::array();
    constexpr const char* row =
        "{:<11} {:<7} {:<20} {:<7} {:<30} {:>8} {:>7} {:<11} {:<8} {:<8} {:>6}  {}\n";
    fmt::print(row, "family", "target", "types", "layout", "instance", "tile", "cluster",
               "consumers", "sums", "schedule", "stages", "built for");
    const auto add = [&](const Description& description, const Instance& instance,
                         const InstanceWords& words) {
      const ProductFacts* const facts =
          description.product != nullptr ? &product_facts(instance) : nullptr;
      const unsigned stages = facts != nullptr ? facts->stages : 0;
      const bool both = instance.simulate != nullptr && instance.launch != nullptr;
      const std::string built =
          fmt::format("{}{}{}", instance.simulate != nullptr ? "virtual GPU" : "", both ? ", " : "",
                      instance.launch != nullptr ? "GPU" : "");
      fmt::print(row, description.name, instance.target, words.types, words.layout, instance.name,
                 words.tile, words.cluster, words.consumers, words.sums, words.schedule, stages,
                 built);
      entries.push_back({{"family", description.name},
                         {"target", instance.target},
                         {"types", words.types},
                         {"layout", words.layout},
                         {"instance", instance.name},
                         {"tile", words.tile},
                         {"cluster", words.cluster},
                         {"consumers", words.consumers},
                         {"sums", words.sums},
                         {"schedule", words.schedule},
                         {"stages", stages},
                         {"any_alignment", facts == nullptr || facts->any_alignment},
                         {"virtual", instance.simulate != nullptr},
                         {"gpu", instance.launch != nullptr}});
    };
    for (const Trial* trial : all_trials()) {
      for (const Instance& instance : trial->instances()) {
        add(*trial->description, instance,
            trial->list != nullptr ? trial->list(instance) : words_of(instance));
      }
    }
    if (opened.plugin != nullptr) {
      for (const PluginFamily& family : opened.plugin->families) {
        const bool multiplies = family.description->product != nullptr;
        for (const Instance& instance : family.instances()) {
          add(*family.description, instance, multiplies ? words_of(instance) : InstanceWords());
        }
      }
    }
    if (*json) fmt::print("{}\n", entries.dump());
  });
}

}  // namespace tw::cli
