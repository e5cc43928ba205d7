"""Fixtures and hooks of the tests in this folder."""

from surroundings import browser, pytest_runtest_makereport, start_sandbox

__all__ = ["browser", "pytest_runtest_makereport", "start_sandbox"]
