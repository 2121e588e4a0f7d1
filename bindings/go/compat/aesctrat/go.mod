module github.com/starius/aesctrat

go 1.24

require example.invalid/sealane/go v0.0.0

replace example.invalid/sealane/go => ../..
