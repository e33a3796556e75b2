// Hopper with operands of any alignment, and with rows of D that begin anywhere.
#pragma once

#include "tilewright/arch/sm90.h"
#include "tilewright/epilogue/line_store.h"

namespace tw {

struct Sm90PlainLines : Sm90Plain {
  template <auto config, class Trace>
  using Store = LineStore<Sm90Plain::Store<config, Trace>>;
};

}  // namespace tw
