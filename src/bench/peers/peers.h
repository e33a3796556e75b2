// What a family is measured against: kernels of other libraries, or of ours, that do the same work.
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
  double share = 1;               // our work as a share of a plain one's
  bool computes_the_same = true;  // the plain ones; then outputs are compared
  bool own_is_wrong = false;      // one of ours, where the peer's file has judged them itself
  std::vector<std::string> notes;
};

// How many algorithms or plans of each kind are tried.
struct PeerEffort {
  int algorithms = 16;
  double plan_seconds = 3;  // after so long no further plan of a shape is made
};

// A form names its peer. A peer's file registers it when the program starts.
struct Peer {
  const char* name;
  // Adds what is measured beside our launches, of which there is one at least.
  void (*add)(Peers& peers, const Buffers& buffers, const PeerEffort& effort,
              const std::vector<Candidate>& own);
  std::string (*version)();  // ", cuDNN 9.19.0": for reports; null: nothing is said
};
struct RegisteredPeer {
  explicit RegisteredPeer(const Peer& peer);
};

// A function of a shared library may take the peer's place in these families. It enqueues what the
// problem states, is called during stream capture, and returns 0.
struct PeerFunction {
  const char* family;
  int (*call)(void* function, const Buffers& buffers, int set, void* stream);
};
struct RegisteredFunction {
  explicit RegisteredFunction(const PeerFunction& function);
};
bool takes_peer_function(const std::string& family);
// That function, called `name`, as the only peer of the buffers' family.
Peers peer_of_library(const Buffers& buffers, void* function, const std::string& name);

// The peer of the buffers' family, beside those launches of ours.
Peers peers_of(const Buffers& buffers, const PeerEffort& effort, const std::vector<Candidate>& own);
// What a report says of a peer; may be empty.
std::string version_of_peer(const std::string& peer);

}  // namespace tw::bench
