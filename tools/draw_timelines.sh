#!/usr/bin/env bash
# Draws docs/timelines from traces of the virtual GPU: two instances of a family at the same problem, each. Files of
# --on gpu (matmul.json, conv2d.json, blockwise.json) in the folder that is given stand there instead of the second.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=${1:-}
draw() {
  local family=$1 instance=$2 other=$3
  shift 3
  [ -z "$folder" ] || other=$folder/$family.json
  "$root/tw" trace "$family" --instance "$instance" "$@" --beside "$other" --ctas 1 \
    -o "$root/out/$family.json" --svg "$root/docs/timelines/$family.svg"
}
mkdir -p "$root/docs/timelines"
draw matmul coop_128x256_2x1 pingpong_128x128_2x1 --m 512 --n 512 --k 512
draw conv2d conv_bf16 conv_pingpong_128 --n 4 --h 14 --w 14 --c 64 --k 256
draw blockwise blockwise_128x128_2x1 blockwise_256x128 --m 512 --n 256 --k 1024
