#include "src/bench/harness/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/layout_tool/svg.h"

namespace tw::bench {

namespace {

using layout_tool::Svg;

constexpr std::string_view own_colour = "#2f6f9f", peer_colour = "#d08a2e",
                           limit_colour = "#51606f", grid_colour = "#e4e9ee",
                           leader_colour = "#b4bec8";
constexpr double left = 76, right = 796, top = 96, row_height = 15, row_width = 330;

double intensity(const Shape& shape) { return shape.flops / shape.bytes; }

// Both axes are logarithmic; x grows by decades, y likewise.
class Axes {
 public:
  Axes(double low_x, double high_x, double low_y, double high_y, double bottom)
      : low_x_(std::log10(low_x)),
        high_x_(std::log10(high_x)),
        low_y_(std::log10(low_y)),
        high_y_(std::log10(high_y)),
        bottom_(bottom) {}
  double x(double value) const {
    return left + (std::log10(value) - low_x_) / (high_x_ - low_x_) * (right - left);
  }
  double y(double value) const {
    return bottom_ - (std::log10(value) - low_y_) / (high_y_ - low_y_) * (bottom_ - top);
  }
  double low_x() const { return std::pow(10, low_x_); }
  double high_x() const { return std::pow(10, high_x_); }
  double low_y() const { return std::pow(10, low_y_); }
  double high_y() const { return std::pow(10, high_y_); }
  double bottom() const { return bottom_; }

 private:
  double low_x_, high_x_, low_y_, high_y_, bottom_;
};

std::string segment(double x0, double y0, double x1, double y1, double width) {
  const double length = std::hypot(x1 - x0, y1 - y0);
  if (length == 0) return "";
  const double across = (y0 - y1) / length * width / 2, along = (x1 - x0) / length * width / 2;
  return fmt::format("M{:.2f} {:.2f}L{:.2f} {:.2f}L{:.2f} {:.2f}L{:.2f} {:.2f}z", x0 + across,
                     y0 + along, x1 + across, y1 + along, x1 - across, y1 - along, x0 - across,
                     y0 - along);
}

std::string disc(double x, double y) {
  return fmt::format("M{:.2f} {:.2f}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x - 4, y);
}
std::string diamond(double x, double y) {
  return fmt::format("M{:.2f} {:.2f}l4.5 4.5l-4.5 4.5l-4.5 -4.5z", x, y - 4.5);
}

void draw_grid(Svg& svg, const Axes& axes) {
  std::string lines;
  for (double decade = 1e-3; decade <= 1e6; decade *= 10) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double value = decade * step;
      const double width = step == 1.0 ? 1.4 : 0.7;
      if (value >= 0.999 * axes.low_x() && value <= 1.001 * axes.high_x()) {
        lines += segment(axes.x(value), top, axes.x(value), axes.bottom(), width);
        svg.text(axes.x(value), axes.bottom() + 16, "label", fmt::format("{:g}", value));
      }
      if (value >= 0.999 * axes.low_y() && value <= 1.001 * axes.high_y()) {
        lines += segment(left, axes.y(value), right, axes.y(value), width);
        svg.text(left - 8, axes.y(value) + 3.5, "side", fmt::format("{:g}", value));
      }
    }
  }
  svg.shapes(lines, grid_colour);
  svg.text(left, top - 12, "note", "TFLOP/s");
  svg.text((left + right) / 2 - 50, axes.bottom() + 36, "note", "flops per byte");
}

void draw_limits(Svg& svg, const Axes& axes, const Limits& limits) {
  const double highest = std::max(limits.bf16_tflops, limits.e4m3_tflops);
  const double from = std::max(axes.low_x(), axes.low_y() / limits.read_terabytes);
  const double ridge = std::min(axes.high_x(), highest / limits.read_terabytes);
  std::string lines;
  if (ridge > from) {
    lines += segment(axes.x(from), axes.y(from * limits.read_terabytes), axes.x(ridge),
                     axes.y(ridge * limits.read_terabytes), 2);
    const double at = std::sqrt(from * std::min(ridge, limits.bf16_tflops / limits.read_terabytes));
    svg.text(axes.x(at) - 120, axes.y(at * limits.read_terabytes) - 10, "note",
             fmt::format("{:g} TB/s read", limits.read_terabytes));
  }
  const auto flat = [&](const char* type, double tflops) {
    const double begin = std::max(axes.low_x(), tflops / limits.read_terabytes);
    if (begin >= axes.high_x() || tflops > axes.high_y()) return;
    lines += segment(axes.x(begin), axes.y(tflops), right, axes.y(tflops), 2);
    svg.text(right - 150, axes.y(tflops) - 6, "note", fmt::format("{} {:g} TFLOP/s", type, tflops));
  };
  flat("bf16", limits.bf16_tflops);
  flat("e4m3", limits.e4m3_tflops);
  svg.shapes(lines, limit_colour);
}

struct Mark {
  int number;
  double x, y, label_x, label_y;
};

struct Point {
  double x, y;
};

// Numbers stand to the right of their marks; where that place is taken, further down. `taken` are
// the middles of marks.
void place_numbers(std::vector<Mark>& marks, std::vector<Point> taken) {
  constexpr double width = 16, height = 11;
  std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.y < b.y; });
  for (Mark& mark : marks) {
    mark.label_x = mark.x + 16;
    mark.label_y = mark.y;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Point& other : taken) {
        if (std::abs(other.x - mark.label_x) < width &&
            std::abs(other.y - mark.label_y) < height - 1e-6) {
          mark.label_y = other.y + height;
          moved = true;
        }
      }
    }
    taken.push_back({mark.label_x, mark.label_y});
  }
}

void draw_marks(Svg& svg, const Axes& axes, const std::vector<ShapeResult>& results) {
  std::string own, peer, leaders;
  std::vector<Mark> marks;
  std::vector<Point> middles;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = results[i].shape;
    const double x = axes.x(intensity(shape));
    const Measurement* best = results[i].best();
    if (results[i].peer && results[i].peer->ran()) {
      const double y = axes.y(shape.tflops(results[i].peer->median_us));
      peer += diamond(x, y);
      middles.push_back({x, y});
    }
    if (best == nullptr) continue;
    const double y = axes.y(shape.tflops(best->median_us));
    own += disc(x, y);
    marks.push_back({int(i) + 1, x, y, 0, 0});
    middles.push_back({x, y});
  }
  place_numbers(marks, middles);
  for (const Mark& mark : marks) {
    leaders += segment(mark.x, mark.y, mark.label_x - 6, mark.label_y, 0.8);
  }
  svg.shapes(leaders, leader_colour);
  svg.shapes(peer, peer_colour);
  svg.shapes(own, own_colour);
  for (const Mark& mark : marks) {
    svg.text(mark.label_x + 2, mark.label_y + 3.5, "value", std::to_string(mark.number));
  }
}

void draw_rows(Svg& svg, const std::vector<ShapeResult>& results) {
  const double columns[] = {right + 50, right + 178, right + 232, right + 282, right + row_width};
  double y = top - 12;
  const char* heads[] = {"", "shape", "ours", "peer", "ratio"};
  for (int column = 1; column < 5; ++column) svg.text(columns[column], y, "side", heads[column]);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ShapeResult& result = results[i];
    const Measurement* best = result.best();
    const auto rate = [&](const Measurement* kernel) {
      return kernel == nullptr || !kernel->ran()
                 ? std::string("-")
                 : fmt::format("{:.3g}", result.shape.tflops(kernel->median_us));
    };
    y += row_height;
    svg.text(columns[0], y, "side", std::to_string(i + 1));
    svg.text(columns[1], y, "side", result.shape.text);
    svg.text(columns[2], y, "side", rate(best));
    svg.text(columns[3], y, "side", rate(result.peer ? &*result.peer : nullptr));
    svg.text(columns[4], y, "side",
             result.ratio() > 0 ? fmt::format("{:.3f}", result.ratio()) : "-");
  }
}

Axes axes_of(const std::vector<ShapeResult>& results, const Limits& limits, double bottom) {
  double low_x = 100, high_x = 1000, low_y = limits.bf16_tflops, high_y = limits.e4m3_tflops;
  for (const ShapeResult& result : results) {
    low_x = std::min(low_x, intensity(result.shape));
    high_x = std::max(high_x, intensity(result.shape));
    const auto include = [&](const Measurement* kernel) {
      if (kernel == nullptr || !kernel->ran()) return;
      low_y = std::min(low_y, result.shape.tflops(kernel->median_us));
      high_y = std::max(high_y, result.shape.tflops(kernel->median_us));
    };
    include(result.best());
    include(result.peer ? &*result.peer : nullptr);
  }
  return Axes(low_x / 1.5, high_x * 1.8, low_y / 1.8, high_y * 1.5, bottom);
}

}  // namespace

std::string roofline(const RunFacts& facts, const std::vector<ShapeResult>& results,
                     const Limits& limits) {
  const double bottom = std::max(560.0, top + row_height * double(results.size()));
  const Axes axes = axes_of(results, limits, bottom);
  Svg svg;
  svg.text(24, 34, "title", fmt::format("{} {} on {}", facts.type, facts.family, facts.device));
  svg.text(24, 56, "note", fmt::format("{}; lines: {}", facts.date, limits.origin));
  svg.shapes(disc(right + 44, 52), own_colour);
  svg.text(right + 54, 56, "note", "ours, numbered");
  svg.shapes(diamond(right + 174, 52), peer_colour);
  svg.text(right + 184, 56, "note", "peer; in TFLOP/s");
  draw_grid(svg, axes);
  draw_limits(svg, axes, limits);
  draw_marks(svg, axes, results);
  draw_rows(svg, results);
  return svg.finish(right + row_width + 24, bottom + 52, "Roofline");
}

}  // namespace tw::bench
