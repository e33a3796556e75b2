// The functions of tilewright.h.
#include <cstring>

#include "src/library/calls.h"
#include "src/library/checks.h"
#include "src/library/described.h"
#include "tilewright/launch/version.h"

using tw::library::Failure;
using tw::library::family_of;
using tw::library::guarded;
using tw::library::not_null;

extern "C" {

const char* tw_message(void) { return tw::library::message(); }

const char* tw_version(void) { return tw::header_version; }

tw_status tw_load_plugin(const char* path) {
  return guarded([&] { tw::library::load_plugin(path); });
}

// A struct of another size is zeroed and no more: every call refuses it.
tw_status tw_init(const char* family, void* problem, size_t bytes, tw_options* options) {
  return guarded([&] {
    if (options != nullptr) tw::library::set_usual(*options);
    if (problem != nullptr) std::memset(problem, 0, bytes);
    const auto& found = tw::library::family_named(family);
    if (problem == nullptr) return;
    if (bytes != found.description->size) {
      throw Failure{TW_INVALID, fmt::format("A problem of {} has {} bytes, but is given {}.",
                                            found.name(), found.description->size, bytes)};
    }
    tw::library::initialise(*found.description, problem);
    const std::uint64_t number = number_of(found);
    std::memcpy(problem, &bytes, sizeof bytes);
    std::memcpy(static_cast<char*>(problem) + sizeof bytes, &number, sizeof number);
  });
}

tw_status tw_extents(int64_t* extents, size_t count, const void* problem) {
  return guarded([&] {
    not_null(extents, "address for the extents");
    tw::library::tell_extents({extents, 3 * count}, family_of(problem), problem);
  });
}

tw_status tw_supported(const void* problem, const tw_options* options) {
  return guarded([&] { supported(family_of(problem), problem, options); });
}

tw_status tw_workspace_size(size_t* bytes, const void* problem, const tw_options* options) {
  return guarded([&] {
    not_null(bytes, "address for the size") = 0;
    *bytes = workspace_size(family_of(problem), problem, options);
  });
}

tw_status tw_run(const void* problem, const tw_options* options, void* workspace,
                 size_t workspace_bytes, void* stream) {
  return guarded([&] {
    run(family_of(problem), problem, options, {workspace, workspace_bytes}, stream);
  });
}

tw_status tw_plan_create(tw_plan** plan, const void* problem, const tw_options* options) {
  return guarded([&] {
    not_null(plan, "address for the plan") = nullptr;
    *plan = make_plan(family_of(problem), problem, options);
  });
}

void tw_plan_destroy(tw_plan* plan) { delete plan; }

size_t tw_plan_workspace_size(const tw_plan* plan) {
  return plan == nullptr ? 0 : plan->decision.workspace_bytes;
}

const char* tw_plan_command(const tw_plan* plan) {
  return plan == nullptr ? "" : plan->command.c_str();
}

tw_status tw_plan_run(const tw_plan* plan, const void* problem, void* workspace,
                      size_t workspace_bytes, void* stream) {
  return guarded([&] {
    tw::library::run_plan(not_null(plan, "plan"), problem, {workspace, workspace_bytes}, stream);
  });
}

tw_status tw_simulate(const void* problem, const tw_options* options) {
  return guarded([&] { simulate(family_of(problem), problem, options); });
}

}  // extern "C"
