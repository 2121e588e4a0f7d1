//! age v1 (<https://c2sp.org/age>): files for people and for passphrases.
