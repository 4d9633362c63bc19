# SPDX-License-Identifier: Apache-2.0
"""Setup script of tools/wheel, which generates _declarations.py and sets SUEDE_VERSION."""

import os

import setuptools

setuptools.setup(
    name="suede", version=os.environ["SUEDE_VERSION"], packages=["suede"],
    description="Memory operations and message sockets of suede, the SUE data-plane endpoint", license="Apache-2.0",
    python_requires=">=3.11", install_requires=["cffi>=1.15", "numpy>=1.24"])
