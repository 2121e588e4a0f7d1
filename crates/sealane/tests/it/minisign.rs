//! The lines of minisign signatures, as `minisign` reads them.

use sealane::signature::{Rejection, Signers};

#[test]
fn lines_are_read_as_they_are() {
    let case = vectors::signatures().into_iter().find(|case| case.id == "8").unwrap();
    let signers = Signers::parse(case.public_key.as_bytes()).unwrap();
    let lines: Vec<_> = case.signature.lines().collect();
    for line in [1, 3] {
        for blank in [" ", "\t", "  \r"] {
            let mut lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
            lines[line] += blank;
            let found = signers.verify(&case.message, &(lines.join("\n") + "\n"));
            assert_eq!(found, Err(Rejection::Malformed), "{line} {blank:?}");
        }
    }
    let zero = case.signature.replace("trusted comment: ", "trusted comment: \0");
    assert_eq!(signers.verify(&case.message, &zero), Err(Rejection::Malformed));
    assert!(signers.verify(&case.message, &case.signature.replace('\n', "\r\n")).is_ok());
}
