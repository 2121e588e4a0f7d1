"""Which keyring opens a value, when it changes."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from sealane.exceptions import EncryptedFieldError
from sealane.keys import Keyring
from sealane.sqlalchemy import Encrypted


def test_each_change_of_the_keyring_counts_at_once() -> None:
    """A function may return the keyring of a tenant, and the calls follow each other at once."""
    rings, tenant = [Keyring.generate("xaes-256-gcm") for _ in range(2)], 0
    column: Any = sa.Column("c", Encrypted(sa.Text, keyring=lambda: rings[tenant]))
    field: Any = sa.Table("t", sa.MetaData(), column).c.c.type.keyring
    sealed = []
    for tenant in range(2):
        sealed.append(field.seal(str(tenant)))
    for _ in range(100):
        for tenant in range(2):
            assert field.opener.open(sealed[tenant]) == str(tenant)
    old = rings[1].primary
    rings[1].rotate()
    assert field.opener.open(sealed[1]) == "1"
    rings[1].disable(old)
    with pytest.raises(EncryptedFieldError):
        field.opener.open(sealed[1])
    rings[1].enable(old)
    assert field.opener.open(sealed[1]) == "1"
