// Package hazmat contains raw ciphers for existing protocols and formats. They do not detect
// changes of the data, or are dangerous in other ways; their comments say how. New programs should
// use package sealane.
package hazmat
