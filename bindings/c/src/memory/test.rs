//! Tests of lengths, overlaps, texts and results.

use super::*;

fn output(buffer: &mut [u8], call: &Call) -> Result<Output<'static>, ArgumentError> {
    let _ = call;
    check("out", buffer.as_ptr(), buffer.len())?;
    Ok(Output { start: buffer.as_mut_ptr(), len: buffer.len(), call: PhantomData })
}

#[test]
fn lengths_that_no_memory_has() {
    let start = [0u8; 4];
    for (pointer, len, right) in [
        (std::ptr::null(), 0, true),
        (std::ptr::null(), 1, false),
        (start.as_ptr(), 4, true),
        (start.as_ptr(), usize::MAX, false),
        (start.as_ptr(), isize::MAX as usize + 1, false),
        (std::ptr::without_provenance(usize::MAX - 3), 4, false),
    ] {
        assert_eq!(check("data", pointer, len).is_ok(), right, "{len}");
    }
}

#[test]
fn overlaps_are_found_and_in_place_is_not_one() {
    let mut buffer = [7u8; 64];
    let start = buffer.as_mut_ptr();
    Call::lend(|call| {
        let input = |at: usize, len| In(start.wrapping_add(at)).input(call, "data", len).unwrap();
        let arranged = |head, data, tail, others| {
            let out = Out(start.wrapping_add(16)).output(call, "out", 32).unwrap();
            out.arrange(head, data, tail, others).map(drop).map_err(|error| error.to_string())
        };
        for (head, data, tail, others, right) in [
            (4, input(20, 8), 4, [input(0, 16)], true),
            (4, input(20, 8), 4, [input(0, 17)], false),
            (4, input(20, 8), 4, [input(32, 8)], true),
            (4, input(20, 8), 4, [input(31, 8)], false),
            (4, input(19, 8), 4, [input(0, 1)], false),
            (4, input(21, 8), 4, [input(0, 1)], false),
            (4, input(48, 8), 4, [input(0, 1)], true),
            (4, input(8, 8), 20, [input(0, 0)], true),
            (4, input(8, 9), 19, [input(0, 0)], false),
            // Empty bytes overlap nothing, wherever they are.
            (4, input(20, 0), 4, [input(18, 0)], true),
            (4, Input::NONE, 4, [input(18, 0)], true),
        ] {
            let result = arranged(head, data, tail, others);
            assert_eq!(result.is_ok(), right, "{result:?}");
        }
        let short = arranged(20, input(0, 8), 5, [input(0, 0)]);
        assert_eq!(short.unwrap_err(), "the output buffer has 32 bytes, 33 are needed");
        let long = arranged(usize::MAX, input(0, 8), usize::MAX, [input(0, 0)]);
        assert!(long.is_err());
    });
}

#[test]
fn text_is_written_with_its_zero_or_not_at_all() {
    let mut buffer = [7u8; 6];
    Call::lend(|call| {
        assert_eq!(output(&mut buffer, call).unwrap().put_text("123456"), 6);
        assert_eq!(buffer, [7; 6]);
        assert_eq!(output(&mut buffer, call).unwrap().put_text("12345"), 5);
        assert_eq!(&buffer, b"12345\0");
        assert_eq!(output(&mut [], call).unwrap().put_text(""), 0);
    });
}

#[test]
fn results_know_their_length() {
    for len in [0, 1, 15, 16, 100_000] {
        let mut pointer = std::ptr::null_mut();
        let given = Call::lend(|call| {
            let mut bytes = ResultBytes::zeroed(len).unwrap();
            assert!(bytes.bytes().iter().all(|byte| *byte == 0));
            bytes.bytes().fill(5);
            bytes.give(Given(&mut pointer).get(call, "out").unwrap())
        });
        assert_eq!(given, count(len));
        assert!(!pointer.is_null());
        Out(pointer).free_result();
    }
    let mut pointer = std::ptr::dangling_mut();
    Given(&mut pointer).clear();
    assert!(pointer.is_null() && ResultBytes::zeroed(isize::MAX as usize - 100).is_err());
    assert!(Call::lend(|call| Given(std::ptr::null_mut()).get(call, "out").is_err()));
    Out(std::ptr::null_mut()).free_result();
}
