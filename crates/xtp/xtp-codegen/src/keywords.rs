//! The keywords of the six languages for which the official library warns.

use crate::names::is_listed;

/// The languages, in the order of that library, with their keywords.
const LANGUAGES: [(&str, &str); 6] = [
    ("python", PYTHON),
    ("go", GO),
    ("csharp", CSHARP),
    ("rust", RUST),
    ("cpp", CPP),
    ("zig", ZIG),
];

/// The languages in which a name is a keyword, ignoring case.
pub(crate) fn languages(name: &str) -> Vec<&'static str> {
    let name = name.to_lowercase();
    LANGUAGES
        .iter()
        .filter(|(_, keywords)| is_listed(keywords, &name))
        .map(|(language, _)| *language)
        .collect()
}

const PYTHON: &str = "\
    false none true and as assert async await break class continue def del elif else except \
    finally for from global if import in is lambda nonlocal not or pass raise return try while \
    with yield";

const GO: &str = "\
    break case chan const continue default defer else fallthrough for func go goto if import \
    interface map package range return select struct switch type var";

const CSHARP: &str = "\
    abstract as base bool break byte case catch char checked class const continue decimal \
    default delegate do double else enum event explicit extern false finally fixed float for \
    foreach goto if implicit in int interface internal is lock long namespace new null object \
    operator out override params private protected public readonly ref return sbyte sealed short \
    sizeof stackalloc static string struct switch this throw true try typeof uint ulong \
    unchecked unsafe ushort using virtual void volatile while";

const RUST: &str = "\
    as break const continue crate else enum extern false fn for if impl in let loop match mod \
    move mut pub ref return self static struct super trait true type unsafe use where while \
    async await dyn abstract become box do final macro override priv try typeof unsized virtual \
    yield";

const CPP: &str = "\
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t \
    char32_t class compl concept const consteval constexpr constinit const_cast continue \
    co_await co_return co_yield decltype default delete do double dynamic_cast else enum \
    explicit export extern false float for friend goto if inline int long mutable namespace new \
    noexcept not not_eq nullptr operator or or_eq private protected public register \
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct \
    switch template this thread_local throw true try typedef typeid typename union unsigned \
    using virtual void volatile wchar_t while xor xor_eq";

const ZIG: &str = "\
    addrspace align allowzero and anyframe anytype asm async await break callconv catch comptime \
    const continue defer else enum errdefer error export extern fn for if inline linksection \
    noalias noinline nosuspend opaque or orelse packed pub resume return struct suspend switch \
    test threadlocal try union unreachable usingnamespace var volatile while";
