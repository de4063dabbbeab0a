//! The sections `config`, `hosts`, `paths`, `calls` and `reads` of `export!`.

/// A constant with the needs.
#[doc(hidden)]
#[macro_export]
macro_rules! __declared_needs {
    (($($config:ty)?) ($($hosts:tt)*) ($($path:expr),*) ($($call:expr),*) ($($read:expr),*)) => {
        const __NEEDS: $crate::__private::Needs = $crate::__private::Needs {
            config: $crate::__or! {
                $(::core::option::Option::Some($crate::__private::config_node::<$config>()))?
                => (::core::option::Option::None)
            },
            hosts: $crate::__hosts!(($($config)?) [] $($hosts)*),
            paths: &[$($path),*],
            calls: &[$($call),*],
            reads: &[$($read),*],
        }
        .checked();
    };
}

/// The entries of `hosts`: expressions, and `config.KEY`.
#[doc(hidden)]
#[macro_export]
macro_rules! __hosts {
    ($config:tt [$($host:expr,)*]) => {
        &[$($host),*]
    };
    (($config:ty) [$($host:expr,)*] config.$key:ident $(, $($rest:tt)*)?) => {
        $crate::__hosts! {
            ($config)
            [
                $($host,)*
                $crate::__private::config_host::<$config>(
                    ::core::concat!("config.", ::core::stringify!($key)),
                    ::core::stringify!($key),
                ),
            ]
            $($($rest)*)?
        }
    };
    (() [$($host:expr,)*] config.$key:ident $(, $($rest:tt)*)?) => {
        ::core::compile_error!(::core::concat!(
            "`config.", ::core::stringify!($key), "` in `hosts` is the host of a configuration value",
            "\nhelp: add the type of the configuration to `export!`: `config: Type`",
        ))
    };
    ($config:tt [$($host:expr,)*] $new:expr $(, $($rest:tt)*)?) => {
        $crate::__hosts! { $config [$($host,)* $new,] $($($rest)*)? }
    };
}

/// The servlet with its needs, for native tests.
#[doc(hidden)]
#[macro_export]
macro_rules! __needs {
    ($servlet:ident () () () () ()) => {
        $servlet
    };
    ($servlet:ident $($needs:tt)*) => {{
        $crate::__declared_needs! { $($needs)* }
        $servlet.with_needs($crate::__rendered!(Needs, __NEEDS))
    }};
}

/// The custom section with the needs, if there are any. It is part of the module, but not of its data.
#[doc(hidden)]
#[macro_export]
macro_rules! __needs_section {
    (() () () () ()) => {};
    ($($needs:tt)*) => {
        $crate::__declared_needs! { $($needs)* }
        #[allow(
            long_running_const_eval,
            reason = "long descriptions take long to render"
        )]
        const __NEEDS_LENGTH: usize = __NEEDS.length();
        #[unsafe(link_section = "mcp-servlet:needs")]
        static __NEEDS_SECTION: [u8; __NEEDS_LENGTH] = __NEEDS.render::<__NEEDS_LENGTH>();
    };
}
