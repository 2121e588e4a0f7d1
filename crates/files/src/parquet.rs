//! How an encrypted Parquet file stores its data keys, and which columns are encrypted.
//!
//! A file ends with a footer, its length and four characters. With `PARE`, the footer begins with a
//! cleartext structure (`FileCryptoMetaData`), and the metadata after it is encrypted. With `PAR1`,
//! the metadata (`FileMetaData`) is cleartext, and signed if the file is encrypted. Both are
//! structures in the compact protocol of Apache Thrift; the format's `Encryption.md` and
//! `parquet.thrift` describe them.
//!
//! Nothing is allocated for a value that we skip, and every count is compared with the bytes that
//! are left, so memory and time are proportional to the input.

use base::{Error, Result};

/// Structures and lists inside each other. Parquet's own need 8.
const MAX_DEPTH: usize = 32;
/// Names in the path of a column.
const MAX_PATH: usize = 100;
/// Row groups, names in the schema and columns to return. An encrypted file has at most 32,767 row
/// groups of as many columns, because the associated data has two bytes for each number.
const MAX_COUNT: usize = 1 << 20;

/// What a footer says about encryption.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ParquetFooter<'a> {
    /// The algorithm, or `None` if the file is not encrypted.
    pub algorithm: Option<ParquetAlgorithm<'a>>,
    /// How the writer stored the data key of the footer.
    pub key: Option<&'a [u8]>,
    /// The columns of the first row group, and those of others with another key.
    pub columns: Vec<ParquetColumn<'a>>,
    /// Number of bytes of the structure.
    pub len: usize,
}

/// The encryption algorithm and the parts of the associated data that the file stores.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ParquetAlgorithm<'a> {
    /// Whether pages are encrypted with AES-CTR, which does not authenticate them.
    pub unauthenticated: bool,
    /// Prefix of the associated data; empty if there is none or the file does not store it.
    pub aad_prefix: &'a [u8],
    /// Identifier of the file in the associated data.
    pub aad_file_unique: &'a [u8],
}

/// A column, as the schema names it.
#[derive(Debug, PartialEq, Eq)]
pub struct ParquetColumn<'a> {
    /// The names on the way to the column, joined by dots.
    pub path: String,
    /// The key that encrypts it.
    pub key: ParquetColumnKey<'a>,
}

/// The key that encrypts a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParquetColumnKey<'a> {
    /// None: the column is in clear.
    Clear,
    /// The footer's.
    Footer,
    /// Its own, and how the writer stored it.
    Own(Option<&'a [u8]>),
}

impl<'a> ParquetFooter<'a> {
    /// Parses the beginning of a `PARE` footer.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if it is malformed.
    pub fn encrypted(footer: &'a [u8]) -> Result<Self> {
        let mut found = Self::default();
        let mut reader = Reader { data: footer, at: 0, depth: 0 };
        reader.structure(STRUCTURE, |reader, id, kind| match id {
            1 => reader.algorithm(kind).map(|it| found.algorithm = Some(it)),
            2 => reader.bytes(kind).map(|it| found.key = Some(it)),
            _ => reader.skip(kind),
        })?;
        found.len = reader.at;
        Ok(found)
    }

    /// Parses the metadata: a `PAR1` footer, or a decrypted `PARE` footer.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if it is malformed, or if its parts name columns differently.
    pub fn metadata(metadata: &'a [u8]) -> Result<Self> {
        let mut found = Self::default();
        // Reading it again for each row group would take quadratic time.
        let mut schema = Vec::new();
        let mut reader = Reader { data: metadata, at: 0, depth: 0 };
        reader.structure(STRUCTURE, |reader, id, kind| match id {
            2 => reader.list(kind, |reader, kind| {
                check_count(schema.len())?;
                reader.element(kind).map(|it| schema.push(it))
            }),
            4 => {
                let (mut first, mut count) = (None, 0);
                reader.list(kind, |reader, kind| {
                    check_count(count)?;
                    count += 1;
                    let from = first.unwrap_or(0);
                    reader.row_group(kind, &schema, &mut found.columns, from)?;
                    first.get_or_insert(found.columns.len());
                    Ok(())
                })
            }
            8 => reader.algorithm(kind).map(|it| found.algorithm = Some(it)),
            9 => reader.bytes(kind).map(|it| found.key = Some(it)),
            _ => reader.skip(kind),
        })?;
        found.len = reader.at;
        Ok(found)
    }
}

fn check_count(found: usize) -> Result<()> {
    if found < MAX_COUNT { Ok(()) } else { Err(Error::LimitExceeded(MANY)) }
}

struct Reader<'a> {
    data: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn algorithm(&mut self, kind: u8) -> Result<ParquetAlgorithm<'a>> {
        let mut found = None;
        self.structure(kind, |reader, id, kind| {
            let mut it = ParquetAlgorithm { unauthenticated: id == 2, ..ParquetAlgorithm::default() };
            reader.structure(kind, |reader, id, kind| match id {
                1 => reader.bytes(kind).map(|prefix| it.aad_prefix = prefix),
                2 => reader.bytes(kind).map(|unique| it.aad_file_unique = unique),
                _ => reader.skip(kind),
            })?;
            if !matches!(id, 1 | 2) || found.replace(it).is_some() {
                return Err(Error::Format("the Parquet footer names no encryption algorithm that is known"));
            }
            Ok(())
        })?;
        found.ok_or(OTHER)
    }

    /// Adds the columns of a row group. Those that equal a column of the first one are left out; it
    /// is `columns[..first]`.
    fn row_group(
        &mut self,
        kind: u8,
        schema: &[Element<'a>],
        columns: &mut Vec<ParquetColumn<'a>>,
        first: usize,
    ) -> Result<()> {
        let mut leaves = Leaves::new(schema)?;
        let mut index = 0;
        self.structure(kind, |reader, id, kind| {
            if id != 1 {
                return reader.skip(kind);
            }
            reader.list(kind, |reader, kind| {
                if !leaves.advance()? {
                    return Err(OTHER);
                }
                let key = reader.column(kind, &leaves)?;
                if columns[..first].get(index).is_none_or(|other| other.key != key) {
                    check_count(columns.len())?;
                    columns.push(ParquetColumn { path: leaves.path()?, key });
                }
                index += 1;
                Ok(())
            })
        })?;
        if leaves.advance()? { Err(OTHER) } else { Ok(()) }
    }

    /// Returns the key of a column, whose path must be the schema's: readers take either.
    fn column(&mut self, kind: u8, leaves: &Leaves<'_, 'a>) -> Result<ParquetColumnKey<'a>> {
        let (mut key, mut named) = (None, false);
        self.structure(kind, |reader, id, kind| match id {
            3 => reader.structure(kind, |reader, id, kind| match id {
                3 => reader.path(kind, leaves).map(|()| named = true),
                _ => reader.skip(kind),
            }),
            8 => {
                reader.structure(kind, |reader, id, kind| {
                    let mut own = None;
                    reader.structure(kind, |reader, field, kind| match (id, field) {
                        (2, 1) => reader.path(kind, leaves).map(|()| named = true),
                        (2, 2) => reader.bytes(kind).map(|it| own = Some(it)),
                        _ => reader.skip(kind),
                    })?;
                    let found = match id {
                        1 => ParquetColumnKey::Footer,
                        2 => ParquetColumnKey::Own(own),
                        _ => return Err(OTHER),
                    };
                    if key.replace(found).is_some() { Err(OTHER) } else { Ok(()) }
                })?;
                // An empty union says nothing, and readers differ.
                key.is_some().then_some(()).ok_or(OTHER)
            }
            _ => reader.skip(kind),
        })?;
        if named { Ok(key.unwrap_or(ParquetColumnKey::Clear)) } else { Err(OTHER) }
    }

    fn element(&mut self, kind: u8) -> Result<Element<'a>> {
        let (mut name, mut children) = (None, 0);
        self.structure(kind, |reader, id, kind| match id {
            4 => reader.bytes(kind).map(|it| name = Some(it)),
            5 => {
                reader.expect(kind, I32)?;
                children = reader.integer()?;
                Ok(())
            }
            _ => reader.skip(kind),
        })?;
        if children < 0 { Err(OTHER) } else { Ok((name.ok_or(OTHER)?, children)) }
    }

    /// Reads a path, which must be the one of the schema.
    fn path(&mut self, kind: u8, leaves: &Leaves<'_, 'a>) -> Result<()> {
        let mut names = leaves.names();
        self.list(kind, |reader, kind| {
            let name = reader.bytes(kind)?;
            if names.next() == Some(name) { Ok(()) } else { Err(OTHER) }
        })?;
        if names.next().is_none() { Ok(()) } else { Err(OTHER) }
    }

    /// Calls `field` with the number and the kind of each field; it reads the value.
    fn structure(&mut self, kind: u8, mut field: impl FnMut(&mut Self, i64, u8) -> Result<()>) -> Result<()> {
        self.expect(kind, STRUCTURE)?;
        self.deeper()?;
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                self.depth -= 1;
                return Ok(());
            }
            let next = if head >> 4 == 0 { self.integer()? } else { id.saturating_add((head >> 4).into()) };
            // All writers sort fields. Of two with one number, readers take either.
            if next <= id {
                return Err(Error::Format("the Parquet footer has a field twice, or not in order"));
            }
            id = next;
            field(self, id, head & 15)?;
        }
    }

    /// Calls `element` with the kind of each element; it reads the value.
    fn list(&mut self, kind: u8, mut element: impl FnMut(&mut Self, u8) -> Result<()>) -> Result<()> {
        self.expect(kind, LIST)?;
        self.deeper()?;
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        // Every element has at least one byte.
        if count > self.left() {
            return Err(SHORT);
        }
        for _ in 0..count {
            element(self, head & 15)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads a value that we don't need.
    fn skip(&mut self, kind: u8) -> Result<()> {
        match kind {
            1 | 2 => Ok(()),
            3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.take(8).map(drop),
            BYTES => self.bytes(kind).map(drop),
            // In a list, a boolean has a byte.
            LIST | 10 => self.list(LIST, |reader, kind| reader.skip(if kind < 3 { 3 } else { kind })),
            STRUCTURE => self.structure(kind, |reader, _, kind| reader.skip(kind)),
            _ => Err(Error::Format("the Parquet footer has a value of an unknown kind")),
        }
    }

    fn bytes(&mut self, kind: u8) -> Result<&'a [u8]> {
        self.expect(kind, BYTES)?;
        let len = self.varint()?;
        self.take(len)
    }

    fn expect(&self, kind: u8, expected: u8) -> Result<()> {
        if kind == expected { Ok(()) } else { Err(OTHER) }
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            Err(Error::Format("the Parquet footer is nested too deeply"))
        } else {
            Ok(())
        }
    }

    fn integer(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let part = self.byte()?;
            value |= u64::from(part & 127) << shift;
            if part < 128 {
                return Ok(value);
            }
        }
        Err(Error::Format("the Parquet footer has a number that is too long"))
    }

    fn byte(&mut self) -> Result<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8]> {
        if len > self.left() {
            return Err(SHORT);
        }
        let from = self.at;
        self.at += len as usize;
        Ok(&self.data[from..self.at])
    }

    fn left(&self) -> u64 {
        (self.data.len() - self.at) as u64
    }
}

/// An element of a schema: its name and its number of children; in [`Leaves::open`], of those that
/// are still to come.
type Element<'a> = (&'a [u8], i64);

/// Walks over the columns of a schema, in the order of the column chunks of a row group.
struct Leaves<'s, 'a> {
    schema: &'s [Element<'a>],
    /// The elements on the way, the root first.
    open: Vec<Element<'a>>,
}

impl<'s, 'a> Leaves<'s, 'a> {
    fn new(schema: &'s [Element<'a>]) -> Result<Self> {
        let (root, schema) = schema.split_first().ok_or(OTHER)?;
        Ok(Self { schema, open: vec![*root] })
    }

    /// Goes to the next column, and returns whether there is one.
    fn advance(&mut self) -> Result<bool> {
        while self.open.pop_if(|last| last.1 == 0).is_some() {}
        while let Some(parent) = self.open.last_mut() {
            parent.1 -= 1;
            let (element, rest) = self.schema.split_first().ok_or(OTHER)?;
            self.schema = rest;
            self.open.push(*element);
            if self.open.len() > MAX_PATH {
                return Err(Error::Format("the Parquet schema is nested too deeply"));
            }
            if element.1 == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn names(&self) -> impl Iterator<Item = &'a [u8]> {
        self.open.iter().skip(1).map(|(name, _)| *name)
    }

    fn path(&self) -> Result<String> {
        let joined = self.names().collect::<Vec<_>>().join(&b'.');
        // The position of the byte does not help a reader.
        String::from_utf8(joined).map_err(|_| Error::Format("a name in the Parquet schema is not UTF-8"))
    }
}

const I32: u8 = 5;
const BYTES: u8 = 8;
const LIST: u8 = 9;
const STRUCTURE: u8 = 12;
const MANY: &str = "the Parquet footer has more than 1,048,576 row groups, names or columns";
const SHORT: Error = Error::Format("the Parquet footer ends in the middle of a value");
const OTHER: Error = Error::Format("the Parquet footer has another structure than the format's");

#[cfg(test)]
mod test {
    use super::*;

    fn kind(bytes: &[u8]) -> String {
        ParquetFooter::metadata(bytes).expect_err("malformed").to_string()
    }

    /// Twenty times as much memory as the footer has bytes, before it is verified.
    #[test]
    fn more_than_any_file_has() {
        let list = |id: u8, element: &[u8]| {
            let count = [0x80, 0x80, 0xc0, 0x01];
            [&[id << 4 | 9, 0xfc][..], &count, &element.repeat(3 << 20)].concat()
        };
        let schema = list(2, &[0x48, 0, 0]);
        let groups = [&[0x29, 0x1c, 0x48, 0, 0][..], &list(2, &[0])].concat();
        for footer in [schema, groups] {
            assert!(kind(&footer).contains("more than"), "{}", kind(&footer));
        }
    }

    /// A count, a length or a depth that the bytes do not have is refused before memory is used.
    #[test]
    fn claims() {
        // A list of 2^40 values of no length, of booleans and of structures.
        for element in [0x0, 0x1, 0x7, 0xc] {
            let list = [&[0x19, 0xf0 | element][..], &[0x80, 0x80, 0x80, 0x80, 0x80, 0x20], &[0]].concat();
            assert_eq!(kind(&list), SHORT.to_string());
        }
        assert_eq!(kind(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]), SHORT.to_string());
        assert_eq!(kind(&[0x17, 0, 0]), SHORT.to_string());
        for nested in [vec![0x19; 5000], vec![0x1c; 5000]] {
            assert!(kind(&nested).contains("nested"));
        }
        assert!(kind(&[0x16, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0]).contains("too long"));
        assert!(kind(&[0x1f, 0]).contains("unknown kind"));
        assert!(kind(&[0x15, 0, 0x05, 2, 0, 0]).contains("twice"));
        let largest = [&[0x05, 0xfe][..], &[0xff; 8], &[1, 0, 0x15, 0, 0]].concat();
        assert!(kind(&largest).contains("twice"));
    }

    /// Row groups of ten bytes, and an element of the schema with as many bytes as all of them: a
    /// reader that went through it for each row group would take minutes.
    #[test]
    fn the_schema_is_read_once() {
        const BYTES: usize = 1 << 20;
        let number = |number: usize| {
            (0..3).map(move |i| (number >> (7 * i)) as u8 & 127 | if i < 2 { 128 } else { 0 })
        };
        let mut footer = vec![0x29, 0x2c, 0x48, 1, b'r', 0x15, 2, 0, 0x48, 1, b'c', 0x79, 0xf3];
        footer.extend(number(BYTES));
        footer.resize(footer.len() + BYTES + 1, 0);
        footer.extend([0x29, 0xfc]);
        footer.extend(number(BYTES / 10));
        for _ in 0..BYTES / 10 {
            footer.extend([0x19, 0x1c, 0x3c, 0x39, 0x18, 1, b'c', 0, 0, 0]);
        }
        footer.push(0);
        let began = std::time::Instant::now();
        assert_eq!(ParquetFooter::metadata(&footer).unwrap().columns.len(), 1);
        assert!(began.elapsed() < std::time::Duration::from_secs(20));
    }
}
