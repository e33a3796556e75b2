#include "src/bench/peers/peers.h"

#include <numeric>

#include "src/bench/harness/forms.h"
#include "src/bench/harness/own.h"
// family grouped: begin
#include "src/families/grouped.h"
#include "src/families/grouped_case.h"
// family grouped: end

namespace tw::bench {

namespace {

// family grouped: begin
// Our own product of one matrix with all rows; ours needs more tiles than that.
void add_dense(Peers& peers, const Buffers& buffers, const std::string& own) {
  const MeasuredCase& what = buffers.what();
  MeasuredCase dense;
  const std::vector<std::int64_t>& of = what.numbers;  // groups, rows, n and k
  (void)make_case(dense, matmul_form, {of[1], of[2], of[3]}, what.shape.type, {});
  const auto memory = std::make_shared<Buffers>(dense, 1);
  if (!own_candidates(peers.plain, {}, *memory).is_good()) return;
  for (Candidate& one : peers.plain) {
    one.name = "dense, " + one.name;
    one.launch = [launch = one.launch, memory](int set, void* stream) {
      return launch(set % memory->sets(), stream);
    };
  }
  std::vector<std::int32_t> sizes(what.integers.size());
  std::adjacent_difference(what.integers.begin(), what.integers.end(), sizes.begin());
  for (const Instance& instance : grouped_instances()) {
    if (own.substr(0, own.find(' ')) != instance.name) continue;
    peers.share = tiles_needed(sizes, static_cast<int>(config_of(instance).output_rows()));
  }
  peers.computes_the_same = false;
}
// family grouped: end

// family quantise: begin
// A copy of as many bytes, half of them read and half written.
void add_copy(Peers& peers, const Buffers& buffers) {
  const std::size_t half = static_cast<std::size_t>(buffers.what().shape.bytes / 2) / 256 * 256;
  peers.plain = {{"copy", [&buffers, half](int set, void* stream) {
                    return buffers.copy(set, half, stream);
                  }}};
  peers.computes_the_same = false;
}
// family quantise: end

}  // namespace

Peers peers_of(const Buffers& buffers, const PeerEffort& effort,
               [[maybe_unused]] const std::string& own) {
  Peers peers;
  const ShapeForm* const form = buffers.what().form;
  const std::string peer = form == nullptr ? "" : form->peer;
  if (peer == "cublaslt") peers.plain = cublaslt_candidates(buffers, effort.algorithms);
  // family conv2d: begin
  if (peer == "cudnn") add_cudnn(peers, buffers, effort);
  // family conv2d: end
  // family grouped: begin
  if (peer == "dense") add_dense(peers, buffers, own);
  // family grouped: end
  // family quantise: begin
  if (peer == "copy") add_copy(peers, buffers);
  // family quantise: end
  return peers;
}

std::string version_of_peer([[maybe_unused]] const std::string& peer) {
  // family conv2d: begin
  if (peer == "cudnn" && !cudnn_version().empty()) return ", cuDNN " + cudnn_version();
  // family conv2d: end
  return "";
}

}  // namespace tw::bench
