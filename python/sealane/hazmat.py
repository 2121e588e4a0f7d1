"""Raw parts. They hide nothing from whoever can change the data, and nothing at all when a keystream is used
twice.

If you are not sure that you need them, you want ``sealane.Aead`` or ``sealane.encrypt_file``.
"""

from sealane._native import AesCtr

__all__ = ["AesCtr"]
