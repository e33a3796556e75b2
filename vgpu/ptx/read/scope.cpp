#include "vgpu/ptx/read/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "vgpu/ptx/read/lexer.h"

namespace tw::vgpu::ptx {
namespace {

// The number behind a prefix, as "%r12" has one; false: it has none, or begins with zeros.
bool split_number(const std::string& name, std::string& prefix, std::uint64_t& number) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string::npos || last + 1 == name.size()) return false;
  const std::string digits = name.substr(last + 1);
  if (digits.size() > 9 || (digits.size() > 1 && digits[0] == '0')) return false;
  prefix = name.substr(0, last + 1);
  number = std::stoull(digits);
  return true;
}

// %v.x: which component; 4 if it is none.
unsigned component_of(std::string_view text) {
  if (text.size() != 1) return 4;
  const std::size_t position = std::string_view("xyzw").find(text[0]);
  const std::size_t colour = std::string_view("rgba").find(text[0]);
  return static_cast<unsigned>(std::min({position, colour, std::size_t{4}}));
}

}  // namespace

bool is_special(std::string_view name) {
  static constexpr std::string_view names[] = {"%tid",
                                               "%ntid",
                                               "%laneid",
                                               "%warpid",
                                               "%nwarpid",
                                               "%ctaid",
                                               "%nctaid",
                                               "%smid",
                                               "%nsmid",
                                               "%gridid",
                                               "%clusterid",
                                               "%nclusterid",
                                               "%cluster_ctaid",
                                               "%cluster_nctaid",
                                               "%cluster_ctarank",
                                               "%cluster_nctarank",
                                               "%clock",
                                               "%clock_hi",
                                               "%clock64",
                                               "%is_explicit_cluster",
                                               "%globaltimer",
                                               "%globaltimer_lo",
                                               "%globaltimer_hi",
                                               "%total_smem_size",
                                               "WARP_SZ",
                                               "%aggr_smem_size",
                                               "%dynamic_smem_size",
                                               "%current_graph_exec"};
  static constexpr std::string_view families[] = {"%lanemask_", "%pm", "%envreg",
                                                  "%reserved_smem_offset"};
  const std::string_view alone = name.substr(0, name.find('.'));
  return std::find(std::begin(names), std::end(names), alone) != std::end(names) ||
         std::any_of(std::begin(families), std::end(families),
                     [&](std::string_view family) { return alone.starts_with(family); });
}

std::uint32_t Scopes::open(std::uint32_t outer) {
  scopes_.push_back({outer, {}, {}});
  return static_cast<std::uint32_t>(scopes_.size() - 1);
}

void Scopes::declare(std::uint32_t scope, const std::string& name, const Symbol& symbol,
                     Place place) {
  if (!scopes_[scope].names.emplace(name, symbol).second) {
    fail_at(place, fmt::format("'{}' is declared twice.", name));
  }
}

void Scopes::declare_range(std::uint32_t scope, const std::string& prefix, const Symbol& symbol,
                           Place place) {
  if (!scopes_[scope].ranges.emplace(prefix, symbol).second) {
    fail_at(place, fmt::format("registers '{}<>' are declared twice.", prefix));
  }
}

const Symbol* Scopes::find_here(std::uint32_t scope, const std::string& name) const {
  const auto found = scopes_[scope].names.find(name);
  return found == scopes_[scope].names.end() ? nullptr : &found->second;
}

bool Scopes::look_up(Operand& operand, const std::string& name, std::uint32_t scope) const {
  std::string prefix;
  std::uint64_t number = 0;
  const bool has_number = split_number(name, prefix, number);
  for (std::uint32_t at = scope;; at = scopes_[at].outer) {
    const Symbol* symbol = find_here(at, name);
    std::uint64_t offset = 0;
    if (symbol == nullptr && has_number) {
      const auto range = scopes_[at].ranges.find(prefix);
      if (range != scopes_[at].ranges.end() && number < range->second.count) {
        symbol = &range->second;
        offset = number * symbol->vector;
      }
    }
    if (symbol != nullptr) {
      operand.kind = symbol->kind;
      operand.index = symbol->index + static_cast<std::uint32_t>(offset);
      // A vector register by its name alone is all of its components.
      for (unsigned i = 0; i < symbol->vector && symbol->vector > 1; ++i) {
        operand.parts.push_back({.kind = Operand::Register,
                                 .index = operand.index + i,
                                 .name = operand.name,
                                 .place = operand.place});
      }
      return true;
    }
    if (at == module) return false;
  }
}

void Scopes::resolve(Operand& operand, std::uint32_t scope) const {
  for (Operand& part : operand.parts) resolve(part, scope);
  if (operand.kind != Operand::Name) return;
  if (look_up(operand, operand.name, scope)) {
    if (!operand.parts.empty()) operand.kind = Operand::Vector;
    return;
  }
  const std::size_t dot = operand.name.rfind('.');
  if (dot != std::string::npos) {
    const unsigned component = component_of(std::string_view(operand.name).substr(dot + 1));
    if (look_up(operand, operand.name.substr(0, dot), scope)) {
      if (operand.kind != Operand::Register || component >= operand.parts.size()) {
        fail_at(operand.place, fmt::format("'{}' names no component.", operand.name));
      }
      const Operand part = operand.parts[component];
      operand.index = part.index;
      operand.parts.clear();
      return;
    }
  }
  if (!is_special(operand.name)) {
    fail_at(operand.place, fmt::format("'{}' is not declared.", operand.name));
  }
  operand.kind = Operand::Special;
}

}  // namespace tw::vgpu::ptx
