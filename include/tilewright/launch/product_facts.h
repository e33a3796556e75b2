// What is known of a compiled kernel that multiplies; it stands first in what its family knows.
#pragma once

#include "tilewright/bind/config.h"

namespace tw {

struct ProductFacts {
  MatmulConfig config;
  unsigned stages;
  unsigned tracks;        // tracks in a CTA's timeline
  bool any_alignment;     // operands may begin anywhere
  bool any_layout;        // they may be K-major or MN-major, whatever the configuration says
  bool by_threads;        // threads copy the operands, in pieces as large as these are aligned
  unsigned b_scale_rows;  // rows of B that share a scale of 128 of k; 0: there are no scales
};

}  // namespace tw
