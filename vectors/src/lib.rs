//! Published test vectors and a loader that refuses what it does not understand.
