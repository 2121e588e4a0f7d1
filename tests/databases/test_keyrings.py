"""Which keyring opens a value, when it changes, and which names are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from sealane.exceptions import EncryptedFieldError
from sealane.keys import Keyring
from sealane.sqlalchemy import Encrypted, reencrypt


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


def test_no_name_is_shown_that_a_terminal_obeys() -> None:
    name, ring = "a\x1b[31m\u202e\n", Keyring.generate("xaes-256-gcm")
    types: list[dict[str, Any]] = [{"unique": True}, {"server_default": "x"}, {"primary_key": True}]
    for options in types:
        with pytest.raises(ValueError, match=r"a\\x1b") as caught:
            sa.Table(name, sa.MetaData(), sa.Column(name, Encrypted(sa.String, keyring=ring), **options))
        assert str(caught.value).isprintable()
    table = sa.Table(name, sa.MetaData(), sa.Column(name, Encrypted(sa.String, keyring=ring)))
    statements: list[Callable[[], Any]] = [
        lambda: table.c[name] < "x",
        lambda: reencrypt(sa.create_engine("sqlite://").connect(), sa.Table(name, sa.MetaData())),
    ]
    for attempt in statements:
        with pytest.raises((TypeError, ValueError)) as refused:
            attempt()
        assert str(refused.value).isprintable(), ascii(str(refused.value))
