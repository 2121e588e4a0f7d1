module example.invalid/sealane/go/bench

go 1.25.0

require (
	example.invalid/sealane/go v0.0.0
	golang.org/x/crypto v0.55.0
)

require golang.org/x/sys v0.47.0 // indirect

replace example.invalid/sealane/go => ../../bindings/go
