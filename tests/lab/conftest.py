# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))


def pytest_configure(config):
    config.addinivalue_line("markers", "long: runs in the long form of the tests alone")


def pytest_collection_modifyitems(items):
    """The file that takes longest begins first, so that it does not go on alone at the end."""
    items.sort(key=lambda item: item.path.name != "test_runs.py")
