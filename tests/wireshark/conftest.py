# SPDX-License-Identifier: Apache-2.0
import pytest

from tshark import Shark


@pytest.fixture
def shark(tmp_path):
    return Shark(tmp_path)


@pytest.fixture(scope="session")
def shared_shark(tmp_path_factory):
    return Shark(tmp_path_factory.mktemp("shared"))
