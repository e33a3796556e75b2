"""What the scripts that hold tilewright against torch have in common: their command line, and layers that are compiled and captured."""
import argparse
import random
import sys

import torch


def run(problems, check, on_a_gpu):
    """check(draw, device, problems) on a GPU, or with --virtual on the virtual one; on_a_gpu() follows on a GPU alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--problems', type=int, default=problems)
    parser.add_argument('--seed', type=int, default=20261115)
    parser.add_argument('--virtual', action='store_true')
    options = parser.parse_args()
    print(f'seed {options.seed}')
    torch.manual_seed(options.seed)
    check(random.Random(options.seed), 'cpu' if options.virtual else 'cuda', options.problems)
    if not options.virtual:
        on_a_gpu()


def check_compiled_and_captured(words, layer, operands, expected):
    if not torch.equal(torch.compile(layer, fullgraph=True)(*operands), expected):
        sys.exit(f'A compiled layer{words} is wrong.')
    layer(*operands)  # outside of the graph first: kernels are loaded when they are first called
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        d = layer(*operands)
    for _ in range(3):
        d.zero_()
        graph.replay()
        torch.cuda.synchronize()
        if not torch.equal(d, expected):
            sys.exit(f'A captured layer{words} is wrong.')
