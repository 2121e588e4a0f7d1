"""zarr and xarray read and write encrypted chunks."""

from __future__ import annotations

import numpy as np
import pytest
import sealane
import xarray as xr
import zarr
from parts import MARKER, RAW, Place
from zarr.storage import FsspecStore

ARRAY = np.arange(300 * 200, dtype="float64").reshape(300, 200)


def assert_encrypted(place: Place) -> None:
    """Metadata and chunks are files that sealane decrypts."""
    stored = place.stored()
    assert any(name.endswith("zarr.json") for name in stored)
    for data in stored.values():
        sealane.decrypt(data, key=RAW)
        assert MARKER.encode() not in data
        assert b"zarr" not in data


@pytest.mark.parametrize("format", [2, 3])
def test_zarr_by_url(place: Place, format: int) -> None:
    group = zarr.open_group(
        place.url("store"),
        mode="w",
        storage_options=place.options,
        zarr_format=format,
        attributes={"of": MARKER},
    )
    group.create_array("a", shape=ARRAY.shape, chunks=(100, 50), dtype="float64")[:] = ARRAY
    stored = place.stored()
    assert len(stored) >= 12 + 2
    for data in stored.values():
        sealane.decrypt(data, key=RAW)
        assert MARKER.encode() not in data
    back = zarr.open_group(place.url("store"), mode="r", storage_options=place.options, zarr_format=format)
    assert back.attrs["of"] == MARKER
    assert list(back.array_keys()) == ["a"]
    np.testing.assert_array_equal(back["a"][95:105, 45:55], ARRAY[95:105, 45:55])
    np.testing.assert_array_equal(back["a"][:], ARRAY)
    with pytest.raises(ValueError, match=r"read.only"):
        back["a"][0, 0] = 1


def test_zarr_through_a_store(place: Place) -> None:
    store = FsspecStore.from_url(place.url("store"), storage_options=place.options)
    array = zarr.create_array(store, shape=ARRAY.shape, chunks=(150, 100), dtype="float64")
    array[:] = ARRAY
    array[10:20, 10:20] = 0
    array.attrs["of"] = MARKER
    assert_encrypted(place)
    array.resize((150, 100))
    back = zarr.open_array(FsspecStore.from_url(place.url("store"), storage_options=place.options), mode="r")
    expected = ARRAY[:150, :100].copy()
    expected[10:20, 10:20] = 0
    np.testing.assert_array_equal(back[:], expected)


def test_zarr_shards_are_read_by_range(place: Place) -> None:
    """A shard is one object with its index at the end."""
    array = zarr.create_array(
        place.url("store"),
        storage_options=place.options,
        shape=ARRAY.shape,
        chunks=(10, 10),
        shards=(300, 100),
        dtype="float64",
        compressors=None,
    )
    array[:] = ARRAY
    assert len(place.stored()) == 3
    assert_encrypted(place)
    back = zarr.open_array(place.url("store"), mode="r", storage_options=place.options)
    np.testing.assert_array_equal(back[155:156, 95:105], ARRAY[155:156, 95:105])
    np.testing.assert_array_equal(back[:], ARRAY)


def test_xarray(place: Place) -> None:
    dataset = xr.Dataset(
        {"t": (("x", "y"), ARRAY)}, {"x": np.arange(300), "y": np.arange(200)}, {"title": MARKER}
    )
    dataset.to_zarr(place.url("store"), storage_options=place.options, mode="w", consolidated=False)
    assert_encrypted(place)
    with xr.open_zarr(
        place.url("store"), storage_options=place.options, consolidated=False, chunks=None
    ) as back:
        assert back.identical(dataset)
        assert float(back["t"].sel(x=7, y=9)) == ARRAY[7, 9]
    more = dataset.isel(x=slice(0, 10)).assign_coords(x=np.arange(300, 310))
    more.to_zarr(place.url("store"), storage_options=place.options, append_dim="x", consolidated=False)
    with xr.open_dataset(
        place.url("store"), engine="zarr", storage_options=place.options, consolidated=False
    ) as back:
        assert back.sizes["x"] == 310
        np.testing.assert_array_equal(back["t"][300:], ARRAY[:10])
