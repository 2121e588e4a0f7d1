"""The calls and bytes of other libraries, kept for programs that were written for them.

A module here is imported by its name: ``from sealane.compat.rencrypt import REncrypt, Cipher``. New
programs want ``sealane.Aead`` and ``sealane.encrypt_file``.
"""
