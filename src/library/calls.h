// The calls behind the functions of tilewright.h, for problems of any family. What is wrong is
// thrown.
#pragma once

#include "src/library/prepared.h"

struct tw_plan {
  tw_options options;
  std::int64_t instance;
  const tw::library::Family* family;
  tw::library::ProblemKey key;
  tw::library::Decision decision;
  std::string command;
};

namespace tw::library {

void supported(const Family& family, const void* problem, const tw_options* options);
std::size_t workspace_size(const Family& family, const void* problem, const tw_options* options);
void run(const Family& family, const void* problem, const tw_options* options,
         const Workspace& workspace, void* stream);
tw_plan* make_plan(const Family& family, const void* problem, const tw_options* options);
// Throws where run_plan would for the problem's sake.
void check_plan(const tw_plan& plan, const void* problem);
void run_plan(const tw_plan& plan, const void* problem, const Workspace& workspace, void* stream);
void simulate(const Family& family, const void* problem, const tw_options* options);

// The kernel that takes a problem; or throws.
Choice decide(const Family& family, const Checked& problem, const DispatchRequest& request);

}  // namespace tw::library
