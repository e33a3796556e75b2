// Which experts take a token, and where its rows lie then. A CTA takes a run of tokens, 32 lanes
// one of them at a time: lane i has the logits of experts i, i + 32 and so on. Then each thread
// counts the tokens of its experts, in their order, and CTAs tell each other how many they have.
#pragma once

#include <bit>

#include "tilewright/base/annotate.h"
#include "tilewright/bind/streamed.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/epilogue/elementary.h"
#include "tilewright/family/route/scores.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/pipeline/meeting.h"

namespace tw {

// The configuration of an instance.
struct RouteConfig {
  unsigned of_lane = 4;      // experts of a lane: a token has at most 32 times as many
  unsigned most_ctas = 256;  // in a grid: they wait for each other
  bool dependent_launch = false;
  Tracing tracing = Tracing::Off;
};

template <RouteConfig given>
class RouteStream : public UsualStream {
 public:
  static constexpr RouteConfig config = given;
  static constexpr unsigned threads = 256, least_ctas = 2;
  static constexpr unsigned of_lane = config.of_lane, most_experts = 32 * of_lane;
  static constexpr unsigned most_chosen = 16;
  static constexpr unsigned token_lanes = 32, at_once = threads / token_lanes;  // tokens
  static constexpr unsigned round = 4 * at_once;  // tokens between two meetings

  struct Params {
    const void* logits;
    std::int64_t pitch;
    const float* bias;  // null: none
    float* weights;
    std::int32_t *chosen, *places, *index, *ends;
    unsigned tokens, experts, k;
    unsigned groups, top_groups, group_scores;
    unsigned run;  // tokens of a CTA
    float scale;
    ElementType type;
    bool is_sigmoid, normalises;
    bool runs_at_once;        // there are several CTAs
    std::uint32_t* counters;  // where they meet
    std::uint32_t* counts;    // (expert, CTA): tokens
  };
  static constexpr unsigned segments = (most_experts + 31) / 32;
  struct Storage {
    std::uint32_t chosen[round * most_chosen];  // by the tokens of a round; or nobody
    std::uint32_t ranks[round * most_chosen];   // how many came before them to their experts
    std::uint32_t sums[segments];               // rows of each 32 experts
    std::uint32_t firsts[most_experts];         // the row of an expert's first token of this CTA
  };

  TW_DEVICE RouteStream(const Params& params, Storage& storage, unsigned thread)
      : params_(params), thread_(thread), lane_(thread % token_lanes) {
    chosen_ = isa::shared_address(storage.chosen);
    ranks_ = isa::shared_address(storage.ranks);
    sums_ = isa::shared_address(storage.sums);
    firsts_ = isa::shared_address(storage.firsts);
    if (thread != 0) return;
    isa::describe_shared(chosen_, sizeof storage.chosen, "chosen", 0);
    isa::describe_shared(ranks_, sizeof storage.ranks, "ranks", 0);
    isa::describe_shared(sums_, sizeof storage.sums, "sums", 0);
    isa::describe_shared(firsts_, sizeof storage.firsts, "firsts", 0);
  }

  // A CTA has one run of tokens.
  TW_DEVICE void pass(unsigned run) {
    const unsigned first = run * params_.run;
    const unsigned last = first + params_.run;
    const unsigned end = last < params_.tokens ? last : params_.tokens;
    unsigned counts[own] = {};
    for (unsigned begin = first; begin < end; begin += round) {
      const unsigned left = end - begin;
      const unsigned tokens = left < round ? left : round;
      for (unsigned i = 0; i < tokens; i += at_once) {
        const unsigned slot = i + thread_ / token_lanes;
        with_float_type(params_.type,
                        [&](auto type) { choose<type.value>(begin + slot, slot, slot < tokens); });
      }
      CtaMeeting<threads>::meet();
      count(counts, begin, tokens);
      if (begin + round < end) CtaMeeting<threads>::meet();
    }
    find_firsts(counts, run);
    CtaMeeting<threads>::meet();
    place(first, end);
  }

 private:
  using Scores = TokenScores<of_lane>;
  static constexpr unsigned own = (most_experts + threads - 1) / threads;  // experts of a thread
  static constexpr std::uint32_t nobody = ~0u;

  // Lanes without a token of their own go along with the last one, for all of a warp must.
  template <ElementType type>
  TW_DEVICE void choose(unsigned token, unsigned slot, bool is_there) const {
    using Bits = ElementBits<bytes_of(type)>;
    const unsigned here = token < params_.tokens ? token : params_.tokens - 1;
    const Bits* const from =
        static_cast<const Bits*>(params_.logits) + here * params_.pitch + lane_;
    Scores scores(thread_, params_.experts);
    TW_UNROLL
    for (unsigned i = 0; i < of_lane; ++i) {
      const unsigned expert = i * token_lanes + lane_;
      if (expert >= params_.experts) continue;
      const float logit = read_value<type>(from + i * token_lanes);
      if (params_.is_sigmoid) {
        const float bias =
            params_.bias == nullptr ? 0.0f : load_element<Space::Global>(params_.bias + expert);
        scores.take_sigmoid(i, logit, bias);
      } else {
        scores.take(i, logit);
      }
    }
    if (params_.top_groups < params_.groups) {
      scores.keep_groups(params_.groups, params_.top_groups, params_.group_scores);
    }
    // Lane i gets what is chosen at i.
    std::uint32_t expert = nobody;
    float score = 0;
    for (unsigned i = 0; i < params_.k; ++i) {
      float best_score;
      const std::uint32_t best = scores.take_best(best_score);
      if (lane_ == i) {
        expert = best;
        score = best_score;
      }
    }
    const float weight = params_.is_sigmoid
                             ? scores.share_of_sigmoids(score, params_.k, params_.normalises)
                             : scores.share_of_softmax(score, params_.k, params_.normalises);
    if (lane_ >= most_chosen) return;
    isa::store_shared_4(chosen_ + (slot * most_chosen + lane_) * 4, is_there ? expert : nobody);
    if (!is_there || lane_ >= params_.k) return;
    const unsigned at = token * params_.k + lane_;
    store_element<Space::Global>(params_.weights + at, weight * params_.scale);
    store_element<Space::Global>(params_.chosen + at, static_cast<std::int32_t>(expert));
  }

  // Each thread goes through the tokens of a round, and tells those of its experts how many came
  // before them.
  TW_DEVICE void count(unsigned (&counts)[own], unsigned begin, unsigned tokens) const {
    if (thread_ >= params_.experts) return;
    for (unsigned slot = 0; slot < tokens; ++slot) {
      for (unsigned i = 0; i < params_.k; i += 4) {
        std::uint32_t four[4];
        isa::load_shared_16(four, chosen_ + (slot * most_chosen + i) * 4);
        TW_UNROLL
        for (unsigned j = 0; j < 4; ++j) {
          TW_UNROLL
          for (unsigned mine = 0; mine < own; ++mine) {
            if (four[j] != mine * threads + thread_) continue;
            keep_rank(begin + slot, slot * most_chosen + i + j, i + j, counts[mine]++);
          }
        }
      }
    }
  }

  // A CTA of one round keeps ranks in shared memory.
  TW_DEVICE bool has_one_round() const { return params_.run <= round; }
  TW_DEVICE void keep_rank(unsigned token, unsigned at, unsigned i, unsigned rank) const {
    if (has_one_round()) {
      isa::store_shared_4(ranks_ + at * 4, rank);
    } else {
      store_element<Space::Global>(params_.places + token * params_.k + i,
                                   static_cast<std::int32_t>(rank));
    }
  }

  // Counts of an expert: those of the CTAs before this one, and all.
  TW_DEVICE void add_up(unsigned& before, unsigned& all, unsigned expert, unsigned run) const {
    constexpr unsigned loads = 8;
    const std::uint32_t* const from = params_.counts + expert;
    const unsigned ctas = isa::cta_count();
    before = all = 0;
    for (unsigned first = 0; first < ctas; first += loads) {
      std::uint32_t some[loads] = {};
      TW_UNROLL
      for (unsigned i = 0; i < loads; ++i) {
        if (first + i >= ctas) continue;
        some[i] = load_element<Space::Global>(from + (first + i) * params_.experts);
      }
      TW_UNROLL
      for (unsigned i = 0; i < loads; ++i) {
        all += some[i];
        if (first + i < run) before += some[i];
      }
    }
  }

  TW_DEVICE void find_firsts(const unsigned (&counts)[own], unsigned run) const {
    unsigned before[own] = {}, all[own];
    TW_UNROLL
    for (unsigned mine = 0; mine < own; ++mine) all[mine] = counts[mine];
    if constexpr (config.most_ctas > 1) {
      if (params_.runs_at_once) {
        each_own([&](unsigned mine, unsigned expert) {
          store_element<Space::Global>(params_.counts + run * params_.experts + expert,
                                       std::uint32_t{counts[mine]});
        });
        const GridMeeting<threads> meeting(params_.counters, thread_);
        meeting.meet();
        meeting.leave();
        each_own(
            [&](unsigned mine, unsigned expert) { add_up(before[mine], all[mine], expert, run); });
      }
    }
    // Rows up to each expert, in its 32 first.
    unsigned ends[own];
    TW_UNROLL
    for (unsigned mine = 0; mine < own; ++mine) {
      ends[mine] = sum_up_to(all[mine]);
      const unsigned segment = mine * at_once + thread_ / token_lanes;
      if (lane_ == token_lanes - 1 && segment < segments) {
        isa::store_shared_4(sums_ + segment * 4, ends[mine]);
      }
    }
    CtaMeeting<threads>::meet();
    each_own([&](unsigned mine, unsigned expert) {
      TW_UNROLL
      for (unsigned segment = 0; segment < segments; ++segment) {
        const std::uint32_t sum = isa::load_shared_4(sums_ + segment * 4);
        if (segment < expert / token_lanes) ends[mine] += sum;
      }
      isa::store_shared_4(firsts_ + expert * 4, ends[mine] - all[mine] + before[mine]);
      if (run != 0) return;
      store_element<Space::Global>(params_.ends + expert, static_cast<std::int32_t>(ends[mine]));
    });
  }
  template <class Body>
  TW_DEVICE void each_own(const Body& body) const {
    TW_UNROLL
    for (unsigned mine = 0; mine < own; ++mine) {
      const unsigned expert = mine * threads + thread_;
      if (expert < params_.experts) body(mine, expert);
    }
  }
  // The sum over this lane and those before it, of 32.
  TW_DEVICE unsigned sum_up_to(unsigned number) const {
    TW_UNROLL
    for (unsigned step = 1; step < token_lanes; step *= 2) {
      const unsigned from = lane_ < step ? thread_ : thread_ - step;
      const unsigned other = isa::shuffle(number, from % isa::warp_lanes());
      if (lane_ >= step) number += other;
    }
    return number;
  }

  TW_DEVICE void place(unsigned first, unsigned end) const {
    const unsigned rows_end = end * params_.k;
    for (unsigned at = first * params_.k + thread_; at < rows_end; at += threads) {
      const unsigned token = at / params_.k;
      std::uint32_t expert, rank;
      if (has_one_round()) {
        const unsigned slot = (token - first) * most_chosen + at % params_.k;
        expert = isa::load_shared_4(chosen_ + slot * 4);
        rank = isa::load_shared_4(ranks_ + slot * 4);
      } else {
        expert = static_cast<std::uint32_t>(load_element<Space::Global>(params_.chosen + at));
        rank = static_cast<std::uint32_t>(load_element<Space::Global>(params_.places + at));
      }
      const std::uint32_t row = isa::load_shared_4(firsts_ + expert * 4) + rank;
      store_element<Space::Global>(params_.places + at, static_cast<std::int32_t>(row));
      store_element<Space::Global>(params_.index + row, static_cast<std::int32_t>(token));
    }
  }

  const Params& params_;
  unsigned thread_, lane_;
  SharedAddress chosen_, ranks_, sums_, firsts_;
};

template <class Page, class Named>
struct Route : Streamed<Page, Named> {
  using Stream = RouteStream<Named::config>;
  static constexpr bool dependent_launch = Named::config.dependent_launch;
};

}  // namespace tw
