"""Age plugins: programs that wrap and unwrap file keys, for example with a hardware key.

A recipient ``age1NAME1…`` or an identity ``AGE-PLUGIN-NAME-1…`` belongs to the program
``age-plugin-NAME``, which must be on ``PATH``. Programs run only after ``enable`` permits it.

>>> sealane.plugins.enable(message=print)
>>> sealane.encrypt_file("report.csv", "report.age", recipients=["age1yubikey1…"])
>>> sealane.decrypt_file("report.age", "report.csv", identities=[pathlib.Path("yubikey.txt")])
"""

from sealane._native import disable_plugins as disable
from sealane._native import enable_plugins as enable
from sealane._native import plugin_identity as identity

__all__ = ["disable", "enable", "identity"]
