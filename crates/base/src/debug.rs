//! `Debug` of the types that hold secrets or long buffers.

/// Implements `Debug` for a type: shows only the named values and says that there are more, as in
/// `debug_fields!([W: Write] Encryptor<W>; |it| index: it.index)`.
#[macro_export]
macro_rules! debug_fields {
    ($([$($generics:tt)*])? $name:ident $(<$parameter:tt>)? $(; |$it:ident| $($field:ident: $value:expr),+)?) => {
        impl $(<$($generics)*>)? std::fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(let $it = self;)?
                f.debug_struct(stringify!($name))
                    $($(.field(stringify!($field), &$value))+)?
                    .finish_non_exhaustive()
            }
        }
    };
}

/// Implements `Debug` for a type as a text: shows only the kind or the length of a secret, as in
/// `debug_text!(Key; |it| "Key({} bytes)", it.len())`.
#[macro_export]
macro_rules! debug_text {
    ($name:ident $(<$parameter:tt>)?; |$it:ident| $($text:tt)+) => {
        impl std::fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $it = self;
                write!(f, $($text)+)
            }
        }
    };
}
