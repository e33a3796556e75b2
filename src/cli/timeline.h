// A timeline of the virtual GPU, for people and for Perfetto.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "vgpu/timeline.h"

namespace tw::cli {

// Of the first `ctas` CTAs: what roles wait for, and when stages are full.
nlohmann::json perfetto(const vgpu::Timeline& timeline, unsigned ctas);

// A line for each role, with the share of its time that it waits and what for; and one that says
// which role sets the pace, if one does.
std::string summary(const vgpu::Timeline& timeline);

// A page that needs nothing else: the roles of the first `ctas` CTAs as bars.
std::string html_page(const vgpu::Timeline& timeline, unsigned ctas, const std::string& title);

}  // namespace tw::cli
