// Quantisers are measured beside a copy.
#include "src/bench/peers/peers.h"

namespace tw::bench {

namespace {

// A copy of as many bytes, half of them read and half written.
void add_copy(Peers& peers, const Buffers& buffers, const PeerEffort&,
              const std::vector<Candidate>&) {
  const std::size_t half = static_cast<std::size_t>(buffers.what().shape.bytes / 2) / 256 * 256;
  peers.plain = {{"copy", [&buffers, half](int set, void* stream) {
                    return buffers.copy(set, half, stream);
                  }}};
  peers.computes_the_same = false;
}
const RegisteredPeer registered({"copy", add_copy, nullptr});

}  // namespace

}  // namespace tw::bench
