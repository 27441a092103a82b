//! Tools in odd places: under another crate's name, written by a macro, unsafe.

#![allow(unsafe_code, reason = "the macro's own crate has none; what it is put on may")]

use trajectly_test::tool;

mod reexports {
    pub(crate) use trajectly_test as ours;
}

#[reexports::ours::tool(crate = reexports::ours)]
fn elsewhere(id: u8) -> u8 {
    id
}

macro_rules! identity {
    ($name:ident, $argument:ident: $ty:ty) => {
        #[tool(skip($argument))]
        fn $name($argument: $ty, twice: $ty) -> $ty {
            let _ = twice;
            $argument
        }
    };
}

identity!(written_by_a_macro, ticket: u8);

/// # Safety
///
/// `at` is within `bytes`.
#[tool]
unsafe fn byte(bytes: &[u8], at: usize) -> u8 {
    // SAFETY: the caller promises it.
    unsafe { *bytes.get_unchecked(at) }
}

#[test]
fn a_tool_is_one_wherever_it_stands() {
    assert_eq!(elsewhere(1), 1);
    assert_eq!(written_by_a_macro(1, 2), 1);
    // SAFETY: there are two bytes.
    assert_eq!(unsafe { byte(&[1, 2], 1) }, 2);
}
