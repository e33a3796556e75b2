#include <fmt/format.h>

#include <algorithm>

#include "src/cli/explain.h"

namespace tw::cli {

namespace {

constexpr unsigned width = 860, role_height = 34, gap = 12;
constexpr unsigned left = 20, role_width = 190, flow_left = 290, flow_width = 280;
constexpr const char* colours[] = {"#9fc79a", "#edae49", "#8fb8de", "#c9a0c8",
                                   "#e3b7a0", "#b8c4d6", "#d6d08f", "#a9a9a9"};

class Picture {
 public:
  void box(unsigned x, unsigned y, unsigned w, unsigned h, const char* colour) {
    body_ += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#444\"/>\n", x, y,
        w, h, colour);
  }
  void text(unsigned x, unsigned y, const std::string& words, const char* style = "") {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", x, y, style, words);
  }
  void arrow(unsigned x1, unsigned y1, unsigned x2, unsigned y2, const char* colour) {
    body_ += fmt::format(
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"1.5\" "
        "marker-end=\"url(#head)\"/>\n",
        x1, y1, x2, y2, colour);
  }
  std::string page(unsigned height) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<defs><marker id=\"head\" "
        "markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" orient=\"auto\"><path "
        "d=\"M0,0 L7,3 L0,6 z\" fill=\"#444\"/></marker></defs>\n<rect width=\"100%\" "
        "height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
        width, height, body_);
  }

 private:
  std::string body_;
};

// Roles that bring something stand on the left, those that read on the right; who does both,
// and who does neither, on both or on the left.
bool brings(const Structure& structure, Role role) {
  for (const Structure::Flow& flow : structure.flows) {
    for (const Part& part : flow.parts) {
      if (part.loaded_by.role == role) return true;
    }
  }
  return false;
}
bool reads(const Structure& structure, Role role) {
  for (const Structure::Flow& flow : structure.flows) {
    for (const Part& part : flow.parts) {
      for (const RoleArrivals& reader : part.read_by) {
        if (reader.arrivals > 0 && reader.role == role) return true;
      }
    }
  }
  return false;
}

const Structure::Signal* signal_named(const Structure& structure, const std::string& name) {
  for (const Structure::Signal& signal : structure.signals) {
    if (signal.name == name) return &signal;
  }
  return nullptr;
}

}  // namespace

std::string drawn(const Structure& structure, const std::string& title) {
  Picture picture;
  picture.text(left, 24, title, " font-size=\"15\" font-weight=\"bold\"");
  // Where a role's box stands, by its place in the list; 0: not on that side.
  unsigned on_left[8] = {}, on_right[8] = {};
  unsigned left_end = 48, right_end = 48;
  constexpr unsigned right = flow_left + flow_width + 80;
  for (unsigned i = 0; i < structure.roles.count; ++i) {
    const Structure::Played& played = structure.roles.entries[i];
    const auto place = [&](unsigned x, unsigned& end, unsigned& y) {
      y = end;
      picture.box(x, y, role_width, role_height, colours[i % std::size(colours)]);
      picture.text(x + 8, y + 14, played.role.name, " font-weight=\"bold\"");
      picture.text(
          x + 8, y + 28,
          fmt::format("{} {}{}{}", played.warps, played.warps == 1 ? "warp" : "warps",
                      played.elected ? ", one thread" : "",
                      played.registers > 0 ? fmt::format(", {} registers", played.registers) : ""));
      end += role_height + gap;
    };
    const bool is_reader = reads(structure, played.role);
    if (brings(structure, played.role) || !is_reader) place(left, left_end, on_left[i]);
    if (is_reader) place(right, right_end, on_right[i]);
  }
  const auto at = [&](const unsigned(&side)[8], Role role) {
    for (unsigned i = 0; i < structure.roles.count; ++i) {
      if (structure.roles.entries[i].role == role) return side[i];
    }
    return role == Role::Epilogue ? on_right[structure.roles.count - 1] : 0u;
  };
  unsigned y = 48;
  for (const Structure::Flow& flow : structure.flows) {
    const unsigned height = 66;
    picture.text(
        flow_left, y - 2 + 12,
        fmt::format("{}: {} stages{}", flow.name, flow.stages,
                    flow.in_tensor_memory ? " in tensor memory"
                                          : fmt::format(" of {} bytes", flow.stage_bytes)));
    const unsigned drawn_stages = std::min(flow.stages, 12u);
    for (unsigned stage = 0; stage < drawn_stages; ++stage) {
      const unsigned step = flow_width / drawn_stages;
      picture.box(flow_left + stage * step, y + 16, step - 3, 22, "#eef2f7");
      picture.text(flow_left + stage * step + 6, y + 31, fmt::format("{}", stage));
    }
    const Structure::Signal* const full = signal_named(structure, std::string(flow.name) + ".full");
    const Structure::Signal* const empty =
        signal_named(structure, std::string(flow.name) + ".empty");
    if (full != nullptr && empty != nullptr) {
      picture.text(flow_left, y + 52,
                   fmt::format("full: {} arrivals{}; empty: {}", full->arrivals,
                               full->bytes > 0 ? fmt::format(" + {} bytes", full->bytes) : "",
                               empty->arrivals),
                   " font-size=\"11\" fill=\"#444\"");
      for (const RoleArrivals& from : full->arrive) {
        if (const unsigned top = at(on_left, from.role)) {
          picture.arrow(left + role_width, top + role_height / 2, flow_left - 4, y + 27, "#444");
        }
      }
      for (const RoleArrivals& to : empty->arrive) {
        if (const unsigned top = at(on_right, to.role)) {
          picture.arrow(flow_left + flow_width, y + 27, right - 4, top + role_height / 2, "#444");
        }
      }
    }
    y += height + gap;
  }
  y = std::max({y, left_end, right_end}) + 8;
  if (structure.memory.count == 0) return picture.page(y);
  const unsigned all = std::max(structure.shared_limit, structure.shared_bytes);
  picture.text(left, y + 12,
               structure.shared_limit > 0
                   ? fmt::format("shared memory: {} of {} bytes", structure.shared_bytes, all)
                   : fmt::format("shared memory: {} bytes", all));
  y += 20;
  constexpr unsigned map_width = width - 2 * left;
  picture.box(left, y, map_width, 26, "white");
  const auto scaled = [&](unsigned bytes) {
    return static_cast<unsigned>(std::uint64_t{bytes} * map_width / all);
  };
  for (unsigned i = 0; i < structure.memory.count; ++i) {
    const Structure::Piece& piece = structure.memory.entries[i];
    const char* const colour = colours[i % std::size(colours)];
    picture.box(left + scaled(piece.offset), y, std::max(2u, scaled(piece.bytes)), 26, colour);
    picture.box(left, y + 36 + 18 * i, 12, 12, colour);
    picture.text(left + 20, y + 46 + 18 * i,
                 fmt::format("{} at {}: {} bytes", piece.name, piece.offset, piece.bytes));
  }
  return picture.page(y + 44 + 18 * structure.memory.count);
}

}  // namespace tw::cli
