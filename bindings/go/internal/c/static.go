//go:build !sealane_dynamic

package c

import _ "example.invalid/sealane/go/internal/static" // the library
