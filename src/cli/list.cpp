// ./tw list: what there is, and where it can run in this build.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/command.h"
#include "src/verify/instance_words.h"
#include "src/verify/trials.h"

namespace tw::cli {

void add_list(CLI::App& app, Verdict&) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("list", "families, targets, types and instances");
  command->add_flag("--json", *json, "print the list as JSON last");
  command->callback([json] {
    nlohmann::json entries = nlohmann::json::array();
    constexpr const char* row =
        "{:<11} {:<7} {:<20} {:<7} {:<30} {:>8} {:>7} {:<11} {:<8} {:<8} {:>6}  {}\n";
    fmt::print(row, "family", "target", "types", "layout", "instance", "tile", "cluster",
               "consumers", "sums", "schedule", "stages", "built for");
    const auto add_words = [&](const char* family, const auto& instance, const InstanceWords& words,
                               unsigned stages, bool any_alignment) {
      const bool both = instance.simulate != nullptr && instance.launch != nullptr;
      const std::string built =
          fmt::format("{}{}{}", instance.simulate != nullptr ? "virtual GPU" : "", both ? ", " : "",
                      instance.launch != nullptr ? "GPU" : "");
      fmt::print(row, family, instance.target, words.types, words.layout, instance.name, words.tile,
                 words.cluster, words.consumers, words.sums, words.schedule, stages, built);
      entries.push_back({{"family", family},
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
                         {"any_alignment", any_alignment},
                         {"virtual", instance.simulate != nullptr},
                         {"gpu", instance.launch != nullptr}});
    };
    for (const Trial* trial : all_trials()) {
      for (const Instance& instance : trial->instances()) {
        const char* const family = trial->description->name;
        const bool multiplies = trial->description->product != nullptr;
        add_words(family, instance,
                  trial->list != nullptr ? trial->list(instance) : words_of(instance),
                  multiplies ? product_facts(instance).stages : 0,
                  !multiplies || product_facts(instance).any_alignment);
      }
    }
    if (*json) fmt::print("{}\n", entries.dump());
  });
}

}  // namespace tw::cli
