module example.invalid/sealane/go

go 1.24
