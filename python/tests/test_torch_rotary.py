"""rotary of torch tensors on the host, that is, on the virtual GPU."""
import unittest

import support

support.need('torch')

import torch

import tilewright


class TorchRotary(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)

    def integers(self, *shape):
        return torch.randint(-3, 4, shape).to(torch.bfloat16)

    def test_against_torch(self):
        heads, key_heads, size = 3, 2, 32
        qkv = self.integers(2, 2, (heads + 2 * key_heads) * size)
        cosines, sines = self.integers(10, size // 2).float(), self.integers(10, size // 2).float()
        positions, slots = (torch.tensor(rows, dtype=torch.int32) for rows in ([9, 0, 4, 4], [5, -1, 0, 7]))
        by_head = qkv.view(4, -1, size)
        x, y = by_head.float().chunk(2, -1)
        c, s = (table[positions.long()][:, None] for table in (cosines, sines))
        turned = torch.cat([x * c - y * s, y * c + x * s], -1).bfloat16()  # integers below 2^8
        for layer in (tilewright.rotary, torch.compile(tilewright.rotary, backend='eager', fullgraph=True)):
            k, v = torch.full((2, 4, key_heads, size), 99.0).bfloat16(), torch.full((2, 4, key_heads, size), 99.0).bfloat16()
            q, *_ = layer(qkv, cosines, sines, heads, key_heads, k=k, v=v, positions=positions, slots=slots)
            self.assertTrue(torch.equal(q, turned[:, :heads].view(2, 2, heads, size)))
            for cache, rows in ((k, turned[:, heads:heads + key_heads]), (v, by_head[:, heads + key_heads:])):
                right = torch.full((8, key_heads, size), 99.0).bfloat16()
                right[[5, 0, 7]] = rows[[0, 2, 3]]
                self.assertTrue(torch.equal(cache.view(8, key_heads, size), right))
        q, k, v = tilewright.rotary(qkv, cosines, sines, heads, key_heads)
        self.assertEqual((k.shape, v.shape), (torch.Size([2, 2, key_heads, size]),) * 2)
        self.assertTrue(torch.equal(v.view(4, key_heads, size), by_head[:, heads + key_heads:]))
        with self.assertRaisesRegex(tilewright.Invalid, 'a cache must be contiguous'):
            tilewright.rotary(qkv, cosines, sines, heads, key_heads, k=k.transpose(1, 2), v=v)


if __name__ == '__main__':
    unittest.main(verbosity=2)
