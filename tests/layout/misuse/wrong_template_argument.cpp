// must not compile: complement: the layout reaches an element twice
#include "tilewright/layout/algebra.h"

template <tw::Layout layout>
struct Carrier {};
using Wrong = Carrier<tw::complement(tw::parse_layout("(4,2):(1,2)"), 24)>;
Wrong wrong;
