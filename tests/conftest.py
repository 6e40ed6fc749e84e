"""Settings that all tests share."""

from hypothesis import settings

# Machines differ in speed and the first example may compile: no test may depend on time. The same examples everywhere.
settings.register_profile("project", deadline=None, derandomize=True)
settings.load_profile("project")
