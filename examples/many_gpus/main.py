"""A layer of a network over several GPUs: every process has a part of the weights and calls
tilewright.matmul on its own GPU; torch.distributed adds up what they make.

torchrun --nproc-per-node 2 examples/many_gpus/main.py    # nccl with a GPU each, else gloo
python3 examples/many_gpus/main.py                        # two processes with numpy and a pipe

Without a GPU all of it runs on the virtual one. Numbers are small integers: sums must be exact.
"""
import os

import tilewright as tw
from layers import ColumnParallel, RowParallel

ROWS, K, HIDDEN, N = 24, 64, 96, 40


def numbers(rows, columns, step):
    return [[(i * step + j * 3) % 5 - 2 for j in range(columns)] for i in range(rows)]


def layer(rank, processes, array, vector, add_up, float32):
    """x -> relu(x U^T + bias) V^T, of which this process has its parts of U, bias and V."""
    part = slice(rank * HIDDEN // processes, (rank + 1) * HIDDEN // processes)
    up = ColumnParallel(array(numbers(HIDDEN, K, 7)[part]), vector(numbers(HIDDEN, 1, 11)[part]), 'relu')
    down = RowParallel(array([row[part] for row in numbers(N, HIDDEN, 2)]), add_up, float32)
    return down(up(array(numbers(ROWS, K, 1))))


def expected():
    x, u, v = numbers(ROWS, K, 1), numbers(HIDDEN, K, 7), numbers(N, HIDDEN, 2)
    bias = [row[0] for row in numbers(HIDDEN, 1, 11)]
    hidden = [[max(0, sum(a * b for a, b in zip(row, line)) + more) for line, more in zip(u, bias)] for row in x]
    return [[sum(a * b for a, b in zip(row, line)) for line in v] for row in hidden]


def report(rank, found, how):
    wrong = sum(a != b for row, line in zip(found, expected()) for a, b in zip(row, line))
    print(f'process {rank}, {how}: {wrong} of {ROWS * N} elements are wrong\n', end='', flush=True)  # whole lines
    return 1 if wrong else 0


def with_numpy(rank, pipe):
    import numpy

    def add_up(mine):
        pipe.send(mine)
        other = pipe.recv()
        return mine + other if rank == 0 else other + mine  # in the same order everywhere

    def array(rows):
        return tw.to_bf16(numpy.array(rows, numpy.float32))

    found = layer(rank, 2, array, lambda rows: numpy.array(rows, numpy.float32)[:, 0].copy(), add_up, 'fp32')
    raise SystemExit(report(rank, found.tolist(), 'a pipe'))


def with_torch():
    import torch
    import torch.distributed as distributed
    rank, processes = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
    own_gpu = torch.cuda.device_count() >= processes
    device = f'cuda:{rank if own_gpu else 0}' if torch.cuda.is_available() else 'cpu'
    distributed.init_process_group('nccl' if own_gpu else 'gloo')

    def add_up(mine):
        distributed.all_reduce(mine)  # the sum over all processes
        return mine

    found = layer(rank, processes, lambda rows: torch.tensor(rows, dtype=torch.bfloat16, device=device),
                  lambda rows: torch.tensor(rows, dtype=torch.float32, device=device)[:, 0].contiguous(), add_up,
                  torch.float32)
    status = report(rank, found.tolist(), f'{distributed.get_backend()} on {device}')
    distributed.destroy_process_group()
    raise SystemExit(status)


if __name__ == '__main__':
    if 'RANK' in os.environ:
        with_torch()
    import multiprocessing
    processes = multiprocessing.get_context('spawn')
    ends = processes.Pipe()
    both = [processes.Process(target=with_numpy, args=(rank, end)) for rank, end in enumerate(ends)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    raise SystemExit(max(abs(one.exitcode) for one in both))
