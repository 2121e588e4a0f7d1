"""Replacements for other libraries, with their calls and their bytes.

They are for existing programs. For example, ``from sealane.compat.rencrypt import REncrypt, Cipher`` replaces
``from rencrypt import REncrypt, Cipher``. New programs should use ``sealane.Aead`` and
``sealane.encrypt_file``.
"""
