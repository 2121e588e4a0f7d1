"""Keys: made by the operating system's generator, wiped when dropped, kept in files that others read."""

from sealane._native import Key, generate, load

__all__ = ["Key", "generate", "load"]
