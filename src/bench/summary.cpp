#include "src/bench/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::bench {

Summary summarise(const std::vector<ShapeResult>& results, double copy_bytes_per_second) {
  Summary summary;
  summary.copy_bytes_per_second = copy_bytes_per_second;
  GeometricMean all, decode, bandwidth, rounded_up;
  for (const ShapeResult& result : results) {
    const Measurement* best = result.best();
    if (best == nullptr) {
      summary.failed.push_back({result.shape.text(), 0});
      continue;
    }
    ++summary.shapes;
    if (const double ratio = result.ratio(); ratio > 0) {
      all.add(ratio);
      if (result.shape.is_decode()) decode.add(ratio);
      if (all.count() == 1 || ratio < summary.lowest.value) {
        summary.lowest = {result.shape.text(), ratio};
      }
      if (ratio < lowest_wanted_ratio) summary.below.push_back({result.shape.text(), ratio});
    }
    if (result.shape.is_decode() && copy_bytes_per_second > 0) {
      const double share = result.shape.bytes() / (best->median_us * 1e-6) / copy_bytes_per_second;
      summary.bandwidth.push_back({result.shape.text(), share});
      bandwidth.add(share);
    }
    if (const double relative = result.of_rounded_up(); relative > 0) rounded_up.add(relative);
    if (const double regret = result.regret(); regret > 0) {
      summary.regrets.add(regret);
      if (regret > summary.highest_regret.value) {
        summary.highest_regret = {result.shape.text(), regret};
      }
    }
  }
  summary.compared = all.count();
  summary.mean_ratio = all.value();
  summary.decode_compared = decode.count();
  summary.decode_mean_ratio = decode.value();
  summary.mean_bandwidth = bandwidth.value();
  summary.rounded_up_compared = rounded_up.count();
  summary.mean_of_rounded_up = rounded_up.value();
  std::sort(summary.below.begin(), summary.below.end(),
            [](const ShapeValue& a, const ShapeValue& b) { return a.value < b.value; });
  return summary;
}

std::string regret_text(const GeometricMean& regrets, const ShapeValue& highest) {
  return fmt::format(
      "Regret, the library's choice over the fastest compiled kernel, {} shapes: {:.3f} in the "
      "geometric mean, highest {:.3f} at {}.\n",
      regrets.count(), regrets.value(), highest.value, highest.shape);
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
  if (summary.regrets.count() > 0) text += regret_text(summary.regrets, summary.highest_regret);
  for (const ShapeValue& failed : summary.failed) {
    text += fmt::format("None of our kernels ran {}.\n", failed.shape);
  }
  return text;
}

}  // namespace tw::bench
