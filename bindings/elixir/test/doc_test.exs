defmodule DocTest do
  use ExUnit.Case, async: true

  doctest Sealane, import: false
  doctest Sealane.File
  doctest Sealane.Hazmat
  doctest Sealane.Hybrid
  doctest Sealane.Key
  doctest Sealane.Reader
  doctest Sealane.Stream
  doctest SpeckEx
  doctest SpeckEx.AEAD
  doctest SpeckEx.Block
  doctest SpeckEx.CTR
end
