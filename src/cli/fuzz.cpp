// ./tw fuzz: random problems, instances and schedules until the time is over, or so many; a failure
// is shrunk to one `./tw run` line.
#include <fmt/format.h>

#include <memory>

#include "src/checkout.h"
#include "src/cli/command.h"
#include "src/cli/described.h"
#include "src/cli/family_of.h"
#include "src/cli/fuzzer.h"
#include "src/verify/trials.h"
#include "tilewright/launch/targets.h"

namespace tw::cli {

namespace {

struct AllRequest : FuzzRequest {
  std::string family;        // empty: all
  std::int64_t largest = 0;  // largest random extent; 0: 320 on the virtual GPU, 2000 on the GPU
};

void fuzz(const AllRequest& request, Verdict& verdict) {
  if (!request.arch.empty() && target_named(request.arch) == nullptr) {
    return verdict.refuse(no_target(request.arch));
  }
  const Result<bool> on_gpu = request.place();
  if (!on_gpu.status.is_good()) return verdict.refuse(on_gpu.status.sentence());
  const std::int64_t usual = *on_gpu.value ? 2000 : 320;
  std::vector<const Trial*> trials(all_trials().begin(), all_trials().end());
  if (!request.family.empty()) {
    std::erase_if(trials,
                  [&](const Trial* trial) { return request.family != trial->description->name; });
    if (trials.empty()) return verdict.refuse(no_family(request.family));
  }
  std::vector<CaseMaker> makers;
  add_described_cases(makers, trials, request.arch, request.instance, *on_gpu.value,
                      request.running(), request.largest > 0 ? request.largest : usual);
  if (makers.empty()) {
    const std::string none =
        fmt::format("No instance of this build runs on {} for --arch '{}' and --instance '{}'.",
                    *on_gpu.value ? "the GPU" : "the virtual GPU", request.arch, request.instance);
    return verdict.refuse(no_instance(request.instance, "those that are fuzzed", none));
  }
  fuzz_cases(request, *on_gpu.value, std::move(makers), verdict);
}

}  // namespace

void add_fuzz(CLI::App& app, Verdict& verdict) {
  auto request = std::make_shared<AllRequest>();
  CLI::App* command =
      app.add_subcommand("fuzz", "random problems, instances and schedules; failures are shrunk");
  request->corpus = in_checkout("tests/corpus/found.txt");
  command->add_option("family", request->family, "only its instances; without it, all");
  request->add_options(*command);
  command
      ->add_option("--largest", request->largest, "of products' extents; 0: 320, on the GPU 2000")
      ->check(CLI::Range(0, 65536));
  command->callback([request, &verdict] { fuzz(*request, verdict); });
}

}  // namespace tw::cli
