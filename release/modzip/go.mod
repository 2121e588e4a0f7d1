module example.invalid/sealane/release/modzip

go 1.24.0

require golang.org/x/mod v0.29.0
