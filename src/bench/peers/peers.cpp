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

}  // namespace

RegisteredPeer::RegisteredPeer(const Peer& peer) { registered().push_back(peer); }

Peers peers_of(const Buffers& buffers, const PeerEffort& effort, const std::string& own) {
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
