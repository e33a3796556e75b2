// What all plans of cuDNN's share in this process, and their execution.
#pragma once

#include "src/bench/peers/cudnn_plans.h"
#include "tilewright/base/status.h"

namespace tw::bench::cudnn {

// The device's memory for them is kept until the end.
struct Shared {
  Target target;
  std::string why;  // where there is no cuDNN, a sentence
  void* workspace = nullptr;
  std::int64_t workspace_bytes = 0;

  Shared();
  void reserve(std::int64_t bytes);
};
Shared& shared();

// The memory of a graph's tensors, by their numbers.
struct Pack {
  std::vector<std::int64_t> ids;
  std::vector<void*> pointers;

  void add(std::int64_t id, const void* data) {
    ids.push_back(id);
    pointers.push_back(const_cast<void*>(data));
  }
};
Status execute(const Plan& plan, const Pack& pack, void* stream);

// ", cuDNN 9.19.0"; empty where there is none.
std::string version();

}  // namespace tw::bench::cudnn
