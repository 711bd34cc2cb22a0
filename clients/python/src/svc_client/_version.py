"""The version of this package. A test compares it with the manifest."""

__version__ = "0.1.0"
