// Package hazmat contains raw ciphers for protocols and formats that exist already. They do not detect changes of the data,
// or are dangerous in other ways that their comments name. New programs use package sealane.
package hazmat
