//! Readers of the acceptance tests of the Fernet specification.

use crate::folder::File;
use crate::{FernetCase, FernetPart, Why};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Generate {
    token: String,
    now: String,
    iv: [u8; 16],
    src: String,
    secret: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verify {
    token: String,
    now: String,
    ttl_sec: u64,
    src: String,
    secret: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Invalid {
    desc: String,
    token: String,
    now: String,
    ttl_sec: u64,
    secret: String,
}

pub(crate) fn generate(file: &File) -> Result<Vec<FernetCase>, Why> {
    let cases: Vec<Generate> = file.json()?;
    let case = |(index, test): (usize, Generate)| FernetCase {
        file: file.name.clone(),
        id: index.to_string(),
        token: test.token,
        now: test.now,
        secret: test.secret,
        part: FernetPart::Generate { iv: test.iv, data: test.src },
    };
    Ok(cases.into_iter().enumerate().map(case).collect())
}

pub(crate) fn verify(file: &File) -> Result<Vec<FernetCase>, Why> {
    let cases: Vec<Verify> = file.json()?;
    let case = |(index, test): (usize, Verify)| FernetCase {
        file: file.name.clone(),
        id: index.to_string(),
        token: test.token,
        now: test.now,
        secret: test.secret,
        part: FernetPart::Verify { ttl: test.ttl_sec, data: test.src },
    };
    Ok(cases.into_iter().enumerate().map(case).collect())
}

pub(crate) fn invalid(file: &File) -> Result<Vec<FernetCase>, Why> {
    let cases: Vec<Invalid> = file.json()?;
    let case = |test: Invalid| FernetCase {
        file: file.name.clone(),
        id: test.desc,
        token: test.token,
        now: test.now,
        secret: test.secret,
        part: FernetPart::Invalid { ttl: test.ttl_sec },
    };
    Ok(cases.into_iter().map(case).collect())
}
