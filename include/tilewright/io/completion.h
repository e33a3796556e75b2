// How the arrival of what a loader brings is announced on the stage's full signal.
#pragma once

namespace tw {

enum class Completion : unsigned {
  TransactionBytes,   // the copy engine counts bytes; one thread announces how many
  CopiesArrive,       // each loading thread's cp.async arrive by themselves when they have landed
  WarpsArrive,        // the writes are done: each loading warp arrives
  WarpsArriveFenced,  // the same, where the readers are of the async proxy: a proxy fence first
  Commit,             // the tensor core arrives when the products before it are done
};

}  // namespace tw
