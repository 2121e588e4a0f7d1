"""What encrypts keysets: AWS KMS, the transit engine of Vault, and PKCS#11 tokens."""
