#!/usr/bin/env bash
# Draws docs/timelines: a run on the virtual GPU beside one on a GPU, of the same instance at the same problem. The latter are
# docs/timelines/h200_FAMILY.json, as ./tw trace FAMILY --on gpu --ctas 2 -o FILE wrote them, or FAMILY.json of the folder that is given.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=${1:-}
draw() {
  local family=$1 instance=$2
  shift 2
  if [ -n "$folder" ]; then cp "$folder/$family.json" "$root/docs/timelines/h200_$family.json"; fi
  "$root/tw" trace "$family" --instance "$instance" "$@" --sms 132 --beside "$root/docs/timelines/h200_$family.json" --ctas 1 \
    -o "$root/out/$family.json" --svg "$root/docs/timelines/$family.svg"
}
mkdir -p "$root/out"
draw matmul coop_128x256_2x1 --m 2560 --n 2560 --k 512
draw conv2d conv_pingpong_128 --n 32 --h 32 --w 32 --c 64 --k 128
draw blockwise blockwise_128x128_2x1 --m 2048 --n 2048 --k 1024
