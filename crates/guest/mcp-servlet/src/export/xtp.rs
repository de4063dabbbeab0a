//! Macros for generated code, with everything that `forbid(unsafe_code)` would reject in an author's crate.

/// Includes the code that `xtp-codegen` generated in `build.rs` for the schema of the same name.
///
/// ```text
/// mcp_servlet::xtp::plugin!(mod shop);        // after Build::new("shop.yaml") in build.rs
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __xtp_plugin {
    ($(#[$attribute:meta])* $visibility:vis mod $name:ident $(;)?) => {
        $(#[$attribute])*
        #[allow(
            dead_code,
            unreachable_pub,
            unused_imports,
            unused_macros,
            clippy::all,
            clippy::pedantic,
            missing_docs,
            reason = "a plugin may leave types and functions of its schema unused"
        )]
        $visibility mod $name {
            ::core::include!(::core::concat!(
                ::core::env!("OUT_DIR"),
                "/",
                ::core::stringify!($name),
                ".rs"
            ));
        }
    };
}

/// The wasm exports of a plugin, and the functions that call them natively.
#[macro_export]
#[doc(hidden)]
macro_rules! __xtp_export {
    (<$plugin:ty as $exports:path> { $($wire:literal => $name:ident ($($input:ident)?) $(-> $output:ident)?;)* }) => {
        #[cfg(not(target_family = "wasm"))]
        impl $crate::xtp::Plugin for $plugin {
            const EXPORTS: &'static [$crate::xtp::Export] = &[$(
                $crate::xtp::Export {
                    name: $wire,
                    run: |call| $crate::__xtp_run!(call, <$plugin as $exports> $name ($($input)?) $(-> $output)?),
                },
            )*];
        }

        // Only hosts and tests call exports; this use keeps the plugin from being reported as dead
        // code in other builds.
        #[cfg(not(target_family = "wasm"))]
        const _: &[$crate::xtp::Export] = <$plugin as $crate::xtp::Plugin>::EXPORTS;

        $(
            #[cfg(target_family = "wasm")]
            const _: () = {
                #[unsafe(export_name = $wire)]
                extern "C" fn export() -> i32 {
                    $crate::__private::xtp::serve($wire, |call| {
                        $crate::__xtp_run!(call, <$plugin as $exports> $name ($($input)?) $(-> $output)?)
                    })
                }
            };
        )*
    };
}

/// One call, from input payload to output payload.
#[macro_export]
#[doc(hidden)]
macro_rules! __xtp_run {
    ($call:ident, <$plugin:ty as $exports:path> $name:ident ($($input:ident)?) $(-> $output:ident)?) => {{
        let _output = <$plugin as $exports>::$name(
            $($call.input::<$crate::xtp::encoding::$input, _>()?)?
        )?;
        $($call.output::<$crate::xtp::encoding::$output, _>(&_output)?;)?
        ::core::result::Result::Ok(())
    }};
}

/// A call of a host function, with the wasm signature that the schema declares.
#[cfg(target_family = "wasm")]
#[macro_export]
#[doc(hidden)]
macro_rules! __xtp_import {
    ($slot:ident, $wire:literal, $name:ident($argument:ident: $in:ident = $input:expr) -> $out:ident) => {{
        $crate::__xtp_foreign!($wire, (block: u64) -> u64);
        let answer = $crate::__private::xtp::call_with::<$crate::xtp::encoding::$in, _>($wire, $input, |block| import(block))?;
        $crate::__private::xtp::answer::<$crate::xtp::encoding::$out, _>($wire, answer)
    }};
    ($slot:ident, $wire:literal, $name:ident($argument:ident: $in:ident = $input:expr)) => {{
        $crate::__xtp_foreign!($wire, (block: u64));
        $crate::__private::xtp::call_with::<$crate::xtp::encoding::$in, _>($wire, $input, |block| {
            import(block);
            0
        })?;
        ::core::result::Result::Ok(())
    }};
    ($slot:ident, $wire:literal, $name:ident() -> $out:ident) => {{
        $crate::__xtp_foreign!($wire, () -> u64);
        let answer = $crate::__private::xtp::call(|| import());
        $crate::__private::xtp::answer::<$crate::xtp::encoding::$out, _>($wire, answer)
    }};
    ($slot:ident, $wire:literal, $name:ident()) => {{
        $crate::__xtp_foreign!($wire, ());
        import();
        ::core::result::Result::Ok(())
    }};
}

/// The foreign function. It is safe: the host checks every handle, and nothing of the guest is lent to it.
#[cfg(target_family = "wasm")]
#[macro_export]
#[doc(hidden)]
macro_rules! __xtp_foreign {
    ($wire:literal, ($($block:ident: u64)?) $(-> $answer:ty)?) => {
        #[link(wasm_import_module = "extism:host/user")]
        unsafe extern "C" {
            #[link_name = $wire]
            safe fn import($($block: u64)?) $(-> $answer)?;
        }
    };
}

/// The slot of a test's host.
#[cfg(not(target_family = "wasm"))]
#[macro_export]
#[doc(hidden)]
macro_rules! __xtp_host {
    (static $slot:ident: $host:ident) => {
        ::std::thread_local! {
            static $slot: $crate::xtp::Slot<dyn $host> = const { $crate::xtp::Slot::new() };
        }
    };
}

/// A call of a function of the test's host. Values are encoded as they are for a real host.
#[cfg(not(target_family = "wasm"))]
#[macro_export]
#[doc(hidden)]
macro_rules! __xtp_import {
    ($slot:ident, $wire:literal, $name:ident($($argument:ident: $in:ident = $input:expr)?) -> $out:ident) => {{
        $($crate::__private::xtp::check_input::<$crate::xtp::encoding::$in, _>($wire, $input)?;)?
        $crate::__private::xtp::ask::<_, $crate::xtp::encoding::$out, _>(&$slot, $wire, |host| host.$name($($argument)?))
    }};
    ($slot:ident, $wire:literal, $name:ident($($argument:ident: $in:ident = $input:expr)?)) => {{
        $($crate::__private::xtp::check_input::<$crate::xtp::encoding::$in, _>($wire, $input)?;)?
        $crate::__private::xtp::tell(&$slot, $wire, |host| host.$name($($argument)?))
    }};
}
