#include "src/bench/harness/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tw::bench {

Summary summarise(const std::vector<ShapeResult>& results, double copy_bytes_per_second) {
  Summary summary;
  summary.copy_bytes_per_second = copy_bytes_per_second;
  GeometricMean all, decode, bandwidth, rounded_up;
  const auto add = [](GeometricMean& mean, double value) {
    if (value > 0) mean.add(value);
  };
  for (const ShapeResult& result : results) {
    const Measurement* best = result.best();
    if (best == nullptr || result.wrong) summary.failed.push_back({result.shape.text, 0});
    if (best == nullptr) continue;
    ++summary.shapes;
    if (const double ratio = result.ratio(); ratio > 0) {
      all.add(ratio);
      if (result.shape.is_decode) decode.add(ratio);
      if (all.count() == 1 || ratio < summary.lowest.value) {
        summary.lowest = {result.shape.text, ratio};
      }
      if (ratio < lowest_wanted_ratio) summary.below.push_back({result.shape.text, ratio});
    }
    if (result.shape.is_decode && copy_bytes_per_second > 0) {
      const double share = result.shape.bytes / (best->median_us * 1e-6) / copy_bytes_per_second;
      summary.bandwidth.push_back({result.shape.text, share});
      bandwidth.add(share);
    }
    add(rounded_up, result.of_rounded_up());
    add(summary.beside_fused, result.fused_ratio());
    add(summary.beside_two_kernels, result.two_kernels_ratio());
    if (result.two_kernels_ratio() > 0 && result.two_kernels_ratio() < 1) {
      ++summary.behind_two_kernels;
    }
    const double bytes_us = 1e6 * result.shape.bytes / copy_bytes_per_second;
    if (result.overhead() > -1 && copy_bytes_per_second > 0 &&
        best->median_us >= Summary::least_microseconds &&
        bytes_us < Summary::most_share_of_bytes * best->median_us) {
      if (summary.relative_time.count() == 0 ||
          result.overhead() > summary.highest_overhead.value) {
        summary.highest_overhead = {result.shape.text, result.overhead()};
      }
      summary.relative_time.add(1 + result.overhead());
    }
    if (const double regret = result.regret(); regret > 0) {
      summary.regrets.add(regret);
      if (regret > summary.highest_regret.value) {
        summary.highest_regret = {result.shape.text, regret};
      }
    }
    add(summary.between_regrets, result.between_regret());
    summary.foreign_us = std::max(summary.foreign_us, result.foreign_us);
    if (result.ratio() > 0 && result.peer_tried > 0) summary.tried.push_back(result.peer_tried);
  }
  summary.compared = all.count();
  summary.mean_ratio = all.value();
  summary.decode_compared = decode.count();
  summary.decode_mean_ratio = decode.value();
  summary.mean_bandwidth = bandwidth.value();
  summary.rounded_up_compared = rounded_up.count();
  summary.mean_of_rounded_up = rounded_up.value();
  std::sort(summary.tried.begin(), summary.tried.end());
  std::sort(summary.below.begin(), summary.below.end(),
            [](const ShapeValue& a, const ShapeValue& b) { return a.value < b.value; });
  return summary;
}

std::string text_of(const Summary& summary) {
  std::string text = fmt::format("{} shapes measured", summary.shapes);
  if (summary.compared > 0) {
    text += fmt::format(
        ", {} beside the peer: ratio {:.3f} in the geometric mean, lowest {:.3f} at {}.\n",
        summary.compared, summary.mean_ratio, summary.lowest.value, summary.lowest.shape);
  } else {
    text += ", none beside a peer.\n";
  }
  if (summary.decode_compared > 0) {
    text += fmt::format("Decode (m <= 64), {} shapes: ratio {:.3f} in the geometric mean.\n",
                        summary.decode_compared, summary.decode_mean_ratio);
  }
  if (summary.compared > 0) {
    text += fmt::format("Below {}: {} shapes", lowest_wanted_ratio, summary.below.size());
    for (std::size_t i = 0; i < summary.below.size(); ++i) {
      text += fmt::format("{} {} ({:.3f})", i == 0 ? ":" : ",", summary.below[i].shape,
                          summary.below[i].value);
    }
    text += ".\n";
  }
  if (!summary.tried.empty()) {
    text += fmt::format("The peer is the fastest of {} to {} that were tried, {} in the median.\n",
                        summary.tried.front(), summary.tried.back(),
                        summary.tried[summary.tried.size() / 2]);
  }
  if (summary.foreign_us > 0) {
    text += fmt::format("The foreign kernel takes {:.2f} us, one behind the other.\n",
                        summary.foreign_us);
  }
  if (summary.beside_fused.count() > 0) {
    text += fmt::format("With the epilogue, beside the peer's in one kernel ({}): ratio {:.3f}.\n",
                        summary.beside_fused.count(), summary.beside_fused.value());
  }
  if (summary.beside_two_kernels.count() > 0) {
    text += fmt::format(
        "With the epilogue, beside the peer and a second kernel ({}): ratio {:.3f}; slower than "
        "both at {}.\n",
        summary.beside_two_kernels.count(), summary.beside_two_kernels.value(),
        summary.behind_two_kernels);
  }
  if (summary.relative_time.count() > 0) {
    text += fmt::format(
        "The epilogue takes {:.1f} % more in the geometric mean of {} shapes of at least {} us "
        "whose bytes take less than {:.0f} % of that; most {:.1f} % at {}.\n",
        100 * (summary.relative_time.value() - 1), summary.relative_time.count(),
        Summary::least_microseconds, 100 * Summary::most_share_of_bytes,
        100 * summary.highest_overhead.value, summary.highest_overhead.shape);
  }
  if (summary.copy_bytes_per_second > 0) {
    text += fmt::format("A copy on the device reads and writes {:.2f} TB/s.\n",
                        summary.copy_bytes_per_second * 1e-12);
  }
  if (!summary.bandwidth.empty()) {
    text += fmt::format("Share of it that decode reaches, {:.0f} % in the geometric mean:",
                        100 * summary.mean_bandwidth);
    for (std::size_t i = 0; i < summary.bandwidth.size(); ++i) {
      text += fmt::format("{} {} {:.0f} %", i == 0 ? "" : ",", summary.bandwidth[i].shape,
                          100 * summary.bandwidth[i].value);
    }
    text += ".\n";
  }
  if (summary.rounded_up_compared > 0) {
    text += fmt::format(
        "Ragged shapes take {:.3f} x the time of the rounded-up ones in the geometric mean.\n",
        summary.mean_of_rounded_up);
  }
  if (summary.regrets.count() > 0) {
    text += fmt::format(
        "Regret, the library's choice over the fastest compiled kernel, {} shapes: {:.3f} in the "
        "geometric mean, highest {:.3f} at {}.\n",
        summary.regrets.count(), summary.regrets.value(), summary.highest_regret.value,
        summary.highest_regret.shape);
  }
  if (summary.between_regrets.count() > 0) {
    text += fmt::format("Regret with a foreign kernel between launches, {} shapes: {:.3f}.\n",
                        summary.between_regrets.count(), summary.between_regrets.value());
  }
  if (!summary.left_out.empty()) {
    text += fmt::format("No time was left for {} shapes: {}.\n", summary.left_out.size(),
                        fmt::join(summary.left_out, ", "));
  }
  for (const ShapeValue& failed : summary.failed) {
    text += fmt::format("Not computed, or wrong: {}.\n", failed.shape);
  }
  return text;
}

}  // namespace tw::bench
