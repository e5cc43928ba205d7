"""Fixtures: those of the sandbox's own tests, whose folder is put on the path for them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "sandbox" / "tests" / "python"))

from surroundings import browser, pytest_runtest_makereport, start_sandbox  # noqa: E402

__all__ = ["browser", "pytest_runtest_makereport", "start_sandbox"]
