//! Slow, plain, spec-shaped twins of the kernels; used by tests only.
