// The binder of kernels that stream: a target's page and a configuration. A family adds its Stream.
#pragma once

#include <type_traits>

#include "tilewright/bind/config.h"
#include "tilewright/kernel/streaming.h"
#include "tilewright/pipeline/event_trace.h"

namespace tw {

template <class Page, class Named>
struct Streamed {
  using Target = Page;
  static constexpr auto config = Named::config;
  using Trace = std::conditional_t<config.tracing == Tracing::On, EventTrace, NoTrace>;
  static constexpr bool dependent_launch = false;  // true: it begins while the launch before ends
};

}  // namespace tw
