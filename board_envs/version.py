"""The version, kept where the build reads it without importing anything."""

__version__ = "0.1.0"
