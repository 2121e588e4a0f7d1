"""Drop-in replacements for other libraries, with their calls and bytes.

They are for existing programs: ``from sealane.compat.rencrypt import REncrypt, Cipher`` replaces
``from rencrypt import REncrypt, Cipher``. New programs should use ``sealane.Aead`` and
``sealane.encrypt_file``.
"""
