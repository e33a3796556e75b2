#include "src/bench/conv2d_report.h"

#include <nlohmann/json.hpp>

namespace tw::bench {

namespace {

using Json = nlohmann::json;

Json json_of(const Conv2dCase& shape) {
  const auto axis = [](const tw_conv2d_axis& given) -> Json {
    return {{"extent", given.extent},     {"filter", given.filter},   {"stride", given.stride},
            {"dilation", given.dilation}, {"pad_low", given.pad_low}, {"pad_high", given.pad_high}};
  };
  return {{"n", shape.n},
          {"c", shape.c},
          {"k", shape.k},
          {"groups", shape.groups},
          {"h", axis(shape.h)},
          {"w", axis(shape.w)},
          {"type", name_of(shape.type)},
          {"text", shape.text()}};
}

std::string cell(double value) { return value > 0 ? fmt::format(" {:.3f} |", value) : " |"; }
std::string time_cell(const Measurement* kernel) {
  return kernel != nullptr ? fmt::format(" {:.2f} |", kernel->median_us) : " |";
}

}  // namespace

const char* name_of(Conv2dRole role) {
  switch (role) {
    case Conv2dRole::Own: return "own";
    case Conv2dRole::Peer: return "peer";
    case Conv2dRole::OwnEpilogue: return "own, epilogue";
    case Conv2dRole::PeerFused: return "peer, epilogue fused";
    case Conv2dRole::Compiled: return "own, fastest compiled";
    default: return "peer, epilogue as a second kernel";
  }
}

const Measurement* Conv2dResult::fastest(Conv2dRole role) const {
  const Measurement* best = nullptr;
  for (const Conv2dRow& row : rows) {
    if (row.role != role || !row.kernel.ran()) continue;
    if (best == nullptr || row.kernel.median_us < best->median_us) best = &row.kernel;
  }
  return best;
}

double Conv2dResult::ratio(Conv2dRole other, Conv2dRole own) const {
  const Measurement *theirs = fastest(other), *ours = fastest(own);
  return theirs == nullptr || ours == nullptr ? 0 : theirs->median_us / ours->median_us;
}

double Conv2dResult::regret() const {
  const double relative = ratio(Conv2dRole::Own, Conv2dRole::Compiled);
  return relative > 0 ? std::max(1.0, relative) : 0;
}

double Conv2dResult::overhead() const {
  const double relative = ratio(Conv2dRole::OwnEpilogue, Conv2dRole::Own);
  return relative > 0 ? relative - 1 : -1;
}

Conv2dSummary summarise(const std::vector<Conv2dResult>& results, double copy_bytes_per_second) {
  Conv2dSummary summary;
  summary.copy_bytes_per_second = copy_bytes_per_second;
  for (const Conv2dResult& result : results) {
    const std::string shape = result.shape.text();
    const Measurement* own = result.fastest(Conv2dRole::Own);
    if (own == nullptr || result.wrong) summary.failed.push_back(shape);
    if (const double ratio = result.ratio(Conv2dRole::Peer, Conv2dRole::Own); ratio > 0) {
      if (summary.beside_peer.count() == 0 || ratio < summary.lowest.value) {
        summary.lowest = {shape, ratio};
      }
      summary.beside_peer.add(ratio);
      if (ratio < Conv2dSummary::lowest_wanted_ratio) summary.below.push_back({shape, ratio});
    }
    if (const double regret = result.regret(); regret > 0) {
      summary.regrets.add(regret);
      if (regret > summary.highest_regret.value) summary.highest_regret = {shape, regret};
    }
    const double fused = result.ratio(Conv2dRole::PeerFused, Conv2dRole::OwnEpilogue);
    if (fused > 0) summary.beside_fused.add(fused);
    const double two = result.ratio(Conv2dRole::PeerThenKernel, Conv2dRole::OwnEpilogue);
    if (two > 0) summary.beside_two_kernels.add(two);
    if (two > 0 && two < 1) summary.behind_two_kernels.push_back({shape, two});
    if (result.overhead() <= -1 || copy_bytes_per_second <= 0) continue;
    const double bytes_us = 1e6 * result.shape.bytes_with_residual() / copy_bytes_per_second;
    if (own->median_us < Conv2dSummary::least_microseconds ||
        bytes_us >= Conv2dSummary::most_share_of_bytes * own->median_us) {
      continue;
    }
    if (summary.relative_time.count() == 0 || result.overhead() > summary.highest_overhead.value) {
      summary.highest_overhead = {shape, result.overhead()};
    }
    summary.relative_time.add(1 + result.overhead());
  }
  return summary;
}

std::string text_of(const Conv2dSummary& summary) {
  std::string text;
  if (summary.beside_peer.count() > 0) {
    text += fmt::format(
        "{} convolutions beside cuDNN: ratio {:.3f} in the geometric mean, lowest "
        "{:.3f} at {}; below {}: {}.\n",
        summary.beside_peer.count(), summary.beside_peer.value(), summary.lowest.value,
        summary.lowest.shape, Conv2dSummary::lowest_wanted_ratio, summary.below.size());
  } else {
    text += "No convolution was measured beside cuDNN.\n";
  }
  if (summary.beside_fused.count() > 0) {
    text += fmt::format("With the epilogue, beside cuDNN's fused graph ({}): ratio {:.3f}.\n",
                        summary.beside_fused.count(), summary.beside_fused.value());
  }
  if (summary.beside_two_kernels.count() > 0) {
    text += fmt::format(
        "With the epilogue, beside cuDNN and a second kernel ({}): ratio {:.3f}; slower than both "
        "at {}.\n",
        summary.beside_two_kernels.count(), summary.beside_two_kernels.value(),
        summary.behind_two_kernels.size());
  }
  if (summary.relative_time.count() > 0) {
    text += fmt::format(
        "The epilogue takes {:.1f} % more in the geometric mean of {} convolutions of at least {} "
        "us whose bytes take less than {:.0f} % of that; most {:.1f} % at {}.\n",
        100 * (summary.relative_time.value() - 1), summary.relative_time.count(),
        Conv2dSummary::least_microseconds, 100 * Conv2dSummary::most_share_of_bytes,
        100 * summary.highest_overhead.value, summary.highest_overhead.shape);
  }
  if (summary.regrets.count() > 0) {
    text += regret_text(summary.regrets, summary.highest_regret);
  }
  if (summary.copy_bytes_per_second > 0) {
    text += fmt::format("A copy on the device reads and writes {:.2f} TB/s.\n",
                        summary.copy_bytes_per_second * 1e-12);
  }
  for (const std::string& shape : summary.failed) {
    text += fmt::format("Not computed, or wrong: {}.\n", shape);
  }
  return text;
}

Json json_of(const RunFacts& facts, const std::vector<Conv2dResult>& results,
             const Conv2dSummary& summary) {
  const auto mean = [](const GeometricMean& of) {
    return of.count() > 0 ? Json(of.value()) : Json();
  };
  Json report = json_of(facts);
  report["summary"] = {{"compared", summary.beside_peer.count()},
                       {"geometric_mean_ratio", mean(summary.beside_peer)},
                       {"geometric_mean_ratio_fused", mean(summary.beside_fused)},
                       {"geometric_mean_ratio_two_kernels", mean(summary.beside_two_kernels)},
                       {"overheads", summary.relative_time.count()},
                       {"geometric_mean_relative_time", mean(summary.relative_time)},
                       {"geometric_mean_regret", mean(summary.regrets)},
                       {"copy_tb_per_s", summary.copy_bytes_per_second * 1e-12},
                       {"failed", summary.failed}};
  report["results"] = Json::array();
  for (const Conv2dResult& result : results) {
    Json entry = {{"shape", json_of(result.shape)}, {"rows", Json::array()}};
    if (!result.notes.empty()) entry["notes"] = result.notes;
    for (const Conv2dRow& row : result.rows) {
      Json one = json_of(row.kernel);
      one["side"] = name_of(row.role);
      if (row.kernel.ran()) one["tflops"] = 1e-6 * result.shape.flops() / row.kernel.median_us;
      entry["rows"].push_back(one);
    }
    report["results"].push_back(entry);
  }
  return report;
}

std::string markdown_of(const RunFacts& facts, const std::vector<Conv2dResult>& results,
                        const Conv2dSummary& summary) {
  std::string text = markdown_head(facts);
  text +=
      "| convolution | kernel | us | TFLOP/s | spread | cuDNN, us | ratio | with epilogue | us | "
      "overhead | cuDNN fused, us | ratio | cuDNN + kernel, us | ratio |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Conv2dResult& result : results) {
    const Measurement* own = result.fastest(Conv2dRole::Own);
    const Measurement* added = result.fastest(Conv2dRole::OwnEpilogue);
    text += fmt::format("| {} |", result.shape.text());
    if (own == nullptr) {
      text += " none | | | |";
    } else {
      text += fmt::format(" {} | {:.2f} | {:.0f} | {:.2f}..{:.2f} |", own->name, own->median_us,
                          1e-6 * result.shape.flops() / own->median_us, own->low_us, own->high_us);
    }
    text += time_cell(result.fastest(Conv2dRole::Peer));
    text += cell(result.ratio(Conv2dRole::Peer, Conv2dRole::Own));
    text += fmt::format(" {} |", added == nullptr ? "" : added->name) + time_cell(added);
    text += result.overhead() > -1 ? fmt::format(" {:+.1f} % |", 100 * result.overhead()) : " |";
    text += time_cell(result.fastest(Conv2dRole::PeerFused));
    text += cell(result.ratio(Conv2dRole::PeerFused, Conv2dRole::OwnEpilogue));
    text += time_cell(result.fastest(Conv2dRole::PeerThenKernel));
    text += cell(result.ratio(Conv2dRole::PeerThenKernel, Conv2dRole::OwnEpilogue)) + "\n";
  }
  return text + "\n" + text_of(summary);
}

}  // namespace tw::bench
