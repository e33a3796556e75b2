// Groups are measured beside one product of all their rows.
#include <numeric>

#include "src/bench/harness/forms.h"
#include "src/bench/harness/own.h"
#include "src/bench/peers/peers.h"
#include "src/families/grouped.h"

namespace tw::bench {

namespace {

// Our own product of one matrix with all rows; ours needs more tiles than that.
void add_dense(Peers& peers, const Buffers& buffers, const PeerEffort&,
               const std::vector<Candidate>& own) {
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
  const std::string& name = own.front().name;
  for (const Instance& instance : grouped_instances()) {
    if (name.substr(0, name.find(' ')) != instance.name) continue;
    peers.share = tiles_needed(sizes, static_cast<int>(config_of(instance).output_rows()));
  }
  peers.computes_the_same = false;
}
const RegisteredPeer registered({"dense", add_dense, nullptr});

using Function = int (*)(void* d, const void* a, const void* b, const std::int32_t* ends,
                         std::int64_t groups, std::int64_t rows, std::int64_t n, std::int64_t k,
                         void* stream);

int call(void* function, const Buffers& buffers, int set, void* stream) {
  const tw_grouped_problem& problem = buffers.problem(set).as<tw_grouped_problem>();
  const tw_matmul_problem& matmul = problem.matmul;
  return reinterpret_cast<Function>(function)(matmul.d.data, matmul.a.data, matmul.b.data,
                                              problem.rows, matmul.batch, matmul.m, matmul.n,
                                              matmul.k, stream);
}
const RegisteredFunction of_library({"grouped", call});

}  // namespace

}  // namespace tw::bench
