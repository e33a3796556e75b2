// Kernels of other libraries that compute the same problem: cuBLASLt and cuDNN.
#pragma once

#include <string>
#include <vector>

#include "src/bench/harness/buffers.h"
#include "src/bench/harness/measure.h"

namespace tw::bench {

struct Peers {
  std::vector<Candidate> plain;  // algorithms, of which the fastest counts
  std::vector<Candidate> fused;  // with the buffers' epilogue
  // A plain one, and then a kernel that applies the epilogue; empty: there is none.
  std::function<Candidate(const Candidate&)> then_kernel;
  double share = 1;               // of our work, in that of a plain one
  bool computes_the_same = true;  // the plain ones; then outputs are compared
  std::vector<std::string> notes;
};

// How many algorithms or plans of each kind are tried.
struct PeerEffort {
  int algorithms = 16;
  double plan_seconds = 3;  // after so long no further plan of a shape is made
};

// The peer of the buffers' family, beside the kernel of ours that has that name.
Peers peers_of(const Buffers& buffers, const PeerEffort& effort, const std::string& own);
// ", cuDNN 9.19.0": what a report says of it; may be empty.
std::string version_of_peer(const std::string& peer);

// Of products, with scales of blocks or without.
std::vector<Candidate> cublaslt_candidates(const Buffers& buffers, int algorithms);
// family conv2d: begin
void add_cudnn(Peers& peers, const Buffers& buffers, const PeerEffort& effort);
std::string cudnn_version();  // 9.19.0; empty where there is none
// family conv2d: end

}  // namespace tw::bench
