#include "src/bench/peers/peers.h"

namespace tw::bench {

namespace {

std::vector<Peer>& registered() {
  static std::vector<Peer> peers;
  return peers;
}

const Peer* peer_named(const std::string& name) {
  for (const Peer& peer : registered()) {
    if (name == peer.name) return &peer;
  }
  return nullptr;
}

std::vector<PeerFunction>& functions() {
  static std::vector<PeerFunction> known;
  return known;
}

const PeerFunction* function_of(const std::string& family) {
  for (const PeerFunction& one : functions()) {
    if (family == one.family) return &one;
  }
  return nullptr;
}

}  // namespace

RegisteredFunction::RegisteredFunction(const PeerFunction& function) {
  functions().push_back(function);
}

bool takes_peer_function(const std::string& family) { return function_of(family) != nullptr; }

Peers peer_of_library(const Buffers& buffers, void* function, const std::string& name) {
  Peers peers;
  const PeerFunction* const known = function_of(buffers.what().form->description->name);
  peers.plain.push_back({name, [known, function, &buffers](int set, void* stream) {
                           const int code = known->call(function, buffers, set, stream);
                           if (code == 0) return Status::good();
                           return Status::refused("The peer's function returned " +
                                                  std::to_string(code) + ".");
                         }});
  return peers;
}

RegisteredPeer::RegisteredPeer(const Peer& peer) { registered().push_back(peer); }

Peers peers_of(const Buffers& buffers, const PeerEffort& effort,
               const std::vector<Candidate>& own) {
  Peers peers;
  const ShapeForm* const form = buffers.what().form;
  const Peer* const peer = form == nullptr ? nullptr : peer_named(form->peer);
  if (peer != nullptr) peer->add(peers, buffers, effort, own);
  return peers;
}

std::string version_of_peer(const std::string& name) {
  const Peer* const peer = peer_named(name);
  return peer == nullptr || peer->version == nullptr ? "" : peer->version();
}

}  // namespace tw::bench
