"""What `pip install ./python` installs works without the repository, and needs no network."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

import support

PYTHON = support.ROOT / 'python'
PROGRAM = ('import tilewright as tw\n'
           'print(tw.__file__, tw.library().path)\n'
           'a = tw.Buffer.of(range(16), (2, 8), "bf16")\n'
           'print(tw.matmul(a, a.T).values())\n')


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def works(self, installed):
        environment = {name: value for name, value in os.environ.items()
                       if name != 'TILEWRIGHT_LIBRARY'}
        environment['PYTHONPATH'] = str(installed)
        printed = subprocess.run([sys.executable, '-c', PROGRAM], env=environment, text=True,
                                 cwd=self.folder, capture_output=True, check=True).stdout
        places, numbers = printed.splitlines()
        for place in places.split():
            self.assertEqual(pathlib.Path(place).parent, installed / 'tilewright')
        self.assertEqual(numbers, '[140.0, 364.0, 364.0, 1104.0]')

    def test_wheel(self):
        program = ('import build_backend, sys\n'
                   'print(build_backend.build_wheel(sys.argv[1]))\n')
        name = subprocess.run([sys.executable, '-c', program, self.folder], cwd=PYTHON, text=True,
                              capture_output=True, check=True).stdout.strip()
        self.assertRegex(name, r'^tilewright-[0-9.]+-py3-none-linux_\w+\.whl$')
        with zipfile.ZipFile(self.folder / name) as wheel:
            wheel.extractall(self.folder / 'installed')
        self.works(self.folder / 'installed')

    def test_pip(self):
        if importlib.util.find_spec('pip') is None:
            self.skipTest(f'{sys.executable} has no pip')
        subprocess.run([sys.executable, '-m', 'pip', 'install', '--quiet', '--no-index',
                        '--disable-pip-version-check', '--target', self.folder / 'installed',
                        PYTHON], check=True)
        self.works(self.folder / 'installed')


if __name__ == '__main__':
    unittest.main(verbosity=2)
