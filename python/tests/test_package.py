"""The wheel of ./tw package and `pip install ./python` work without the repository, and need no network."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile

import support

PYTHON = support.ROOT / 'python'
PROGRAM = ('import tilewright as tw\n'
           'print(tw.__file__, tw.library().path)\n'
           'a = tw.Buffer.of(range(16), (2, 8), "bf16")\n'
           'print(tw.matmul(a, a.T).values())\n')
# Without what leads into the repository.
ELSEWHERE = {name: value for name, value in os.environ.items()
             if name not in ('TILEWRIGHT_LIBRARY', 'TILEWRIGHT_PTX_LIBRARY', 'PYTHONPATH')}
# All threads write one word of shared memory.
RACE = ('import tilewright.ptx\n'
        'text = ".version 9.0 .target sm_90 .address_size 64 .visible .entry k() { .shared .b32 x; .reg .b32 %t; "\n'
        'text += "mov.u32 %t, %tid.x; st.shared.u32 [x], %t; ret; }"\n'
        'print(tilewright.ptx._library()._name)\n'
        'print(tilewright.ptx.launch(text, block=32, raises=False).findings[0][0])\n')


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def works(self, installed):
        environment = {**ELSEWHERE, 'PYTHONPATH': str(installed)}
        printed = subprocess.run([sys.executable, '-c', PROGRAM], env=environment, text=True,
                                 cwd=self.folder, capture_output=True, check=True).stdout
        places, numbers = printed.splitlines()
        for place in places.split():
            self.assertEqual(pathlib.Path(place).parent, installed / 'tilewright')
        self.assertEqual(numbers, '[140.0, 364.0, 364.0, 1104.0]')

    def test_wheel(self):
        """An empty environment; the lines of docs/packages.md."""
        [wheel] = pathlib.Path(os.environ['TILEWRIGHT_PACKAGES']).glob('*.whl')
        self.assertRegex(wheel.name, r'^tilewright-[0-9.]+-py3-none-linux_\w+\.whl$')
        venv.create(self.folder / 'empty')
        python = self.folder / 'empty/bin/python'
        [places] = (self.folder / 'empty').glob('lib/python*/site-packages')
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(places)
        lines, says = re.search(r'```python\n(.*?)```\n\n```\n(.*?)```',
                                (support.ROOT / 'docs/packages.md').read_text(), re.DOTALL).groups()
        printed = subprocess.run([python, '-c', lines + 'print(tw.library().path)\n'],
                                 env=ELSEWHERE, text=True, cwd=self.folder, capture_output=True,
                                 check=True).stdout
        self.assertEqual(printed, f'{says}{places / "tilewright/libtilewright.so"}\n')
        library = places / 'tilewright/libtilewright_ptx.so'
        raced = subprocess.run([python, '-c', RACE], env=ELSEWHERE, text=True, cwd=self.folder, capture_output=True, check=True).stdout
        self.assertEqual(raced, f'{library}\nrace\n')

    def test_pip(self):
        if importlib.util.find_spec('pip') is None:
            self.skipTest(f'{sys.executable} has no pip')
        subprocess.run([sys.executable, '-m', 'pip', 'install', '--quiet', '--no-index',
                        '--disable-pip-version-check', '--target', self.folder / 'installed',
                        PYTHON], check=True)
        self.works(self.folder / 'installed')


if __name__ == '__main__':
    unittest.main(verbosity=2)
