# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import e2e  # noqa: E402

LIMIT_S = 180 * e2e.PATIENCE
# Files that take longest. They begin first, so that none goes on alone at the end.
FIRST = {"test_rtl.py", "test_rtl_axi.py", "test_package.py", "test_failures.py", "test_encapsulations.py", "test_sealing_attacks.py"}


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name not in FIRST)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """No test runs for longer than LIMIT_S, or its marker's `limit(seconds)`."""
    marker = item.get_closest_marker("limit")
    seconds = marker.args[0] if marker else LIMIT_S

    def on_alarm(*_):
        raise e2e.E2eError(f"the test took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pytest_configure(config):
    config.addinivalue_line("markers", "limit(seconds): bound of the test's time")
    config.addinivalue_line("markers", "long: runs in the long form of the tests alone")


@pytest.fixture
def directory():
    with e2e.work_directory() as path:
        yield path


@pytest.fixture
def stack():
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def as_root():
    if os.geteuid() != 0:
        pytest.skip("takes root")
