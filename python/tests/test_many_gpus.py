"""examples/many_gpus: two processes, each with its part of the weights, give the exact result; with numpy and a pipe, and
with torch.distributed where torch is there."""
import importlib.util
import os
import socket
import subprocess
import sys
import unittest

import support

support.need('numpy')
PROGRAM = support.ROOT / 'examples/many_gpus/main.py'
GOOD = '0 of 960 elements are wrong'


class ManyGpus(unittest.TestCase):
    def test_numpy_and_a_pipe(self):
        done = subprocess.run([sys.executable, PROGRAM], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), [f'process {rank}, a pipe: {GOOD}' for rank in (0, 1)])

    def test_torch_distributed(self):
        if importlib.util.find_spec('torch') is None:
            self.skipTest(f'{sys.executable} has no torch')
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        both = [subprocess.Popen([sys.executable, PROGRAM], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env={**os.environ, 'RANK': str(rank), 'WORLD_SIZE': '2', 'MASTER_ADDR': '127.0.0.1',
                                      'MASTER_PORT': str(port)}) for rank in (0, 1)]
        for rank, one in enumerate(both):
            out, errors = one.communicate(timeout=300)
            self.assertEqual(one.returncode, 0, out + errors)
            # torch's backends may say something of their own.
            lines = [line for line in out.splitlines() if not line.startswith('[Gloo]')]
            self.assertEqual(len(lines), 1, out)
            self.assertRegex(lines[0], rf'^process {rank}, \w+ on \S+: {GOOD}$')


if __name__ == '__main__':
    unittest.main(verbosity=2)
