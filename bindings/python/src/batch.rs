//! Many messages in one call: lists of buffers, and packed messages such as a column of Arrow.

use crate::buffer::{fresh_many, with_memory};
use crate::error::usage_limit_warning;
use crate::prelude::*;
use pyo3::types::PyMemoryView;
use sealane::Offset;

/// Fixed cost of a message, in bytes that take as long to process (as in the core).
const MESSAGE_COST: usize = 128;

/// Packed data and its offsets, both new objects.
pub(crate) type Packed<'py> = (Bytes<'py>, Any<'py>);

/// Seals each of `messages`; see the method of the class.
pub(crate) fn seal_many<'py>(
    core: &MessageKeys,
    messages: &Any<'py>,
    aads: Option<&Any<'py>>,
) -> PyResult<Bound<'py, PyList>> {
    many(messages, aads, |py, cost, messages, aads| {
        let lens = messages.iter().map(|message| message.len() + core.overhead());
        fresh_many(py, lens, |out| detached(py, cost, || core.seal_many_into(messages, aads, out)))
    })
}

/// Opens each of `sealed`; see the method of the class.
pub(crate) fn open_many<'py>(
    core: &MessageKeys,
    sealed: &Any<'py>,
    aads: Option<&Any<'py>>,
) -> PyResult<Bound<'py, PyList>> {
    many(sealed, aads, |py, cost, sealed, aads| {
        if let Some(overhead) = core.common_overhead(sealed) {
            let lens = sealed.iter().map(|sealed| sealed.len().saturating_sub(overhead));
            return fresh_many(py, lens, |out| detached(py, cost, || core.open_many_into(sealed, aads, out)));
        }
        // The lengths depend on which key opens each message, so open first and copy.
        let opened = detached(py, cost, || core.open_many(sealed, aads).map(Zeroizing::new))?;
        let mut objects = with_memory(opened.len())?;
        for plaintext in opened.iter() {
            objects.push(copied(py, plaintext)?);
        }
        Ok(objects)
    })
}

/// Reads the messages of a batch and passes them to `work` with their cost.
fn many<'py>(
    messages: &Any<'py>,
    aads: Option<&Any<'py>>,
    work: impl FnOnce(Python<'py>, usize, &[&[u8]], Option<&[&[u8]]>) -> PyResult<Vec<Bytes<'py>>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = messages.py();
    // From here on we hold references to all elements, so the list may change. Exporting a buffer
    // can run the caller's code, so we request every export before we draw a nonce.
    let (messages, aads) = (elements("messages", messages)?, aads_of(py, aads)?);
    let mut slots = slots(py, &messages)?;
    let messages = sources(&messages, &mut slots)?;
    let mut aad_slots = aads.as_ref().map_or(Ok(Vec::new()), |aads| self::slots(py, aads))?;
    let aads = aads.as_ref().map(|aads| sources(aads, &mut aad_slots)).transpose()?;
    let cost = messages.iter().map(|message| message.len() + MESSAGE_COST).sum();
    PyList::new(py, work(py, cost, &messages, aads.as_deref())?)
}

/// Returns the elements of an iterable.
fn elements<'py>(name: &str, list: &Any<'py>) -> PyResult<Vec<Any<'py>>> {
    if list.is_instance_of::<PyBytes>()
        || list.is_instance_of::<PyByteArray>()
        || list.is_instance_of::<PyMemoryView>()
        || list.is_instance_of::<PyString>()
    {
        return Err(PyTypeError::new_err(format!(
            "{name}: expected a list of bytes-like objects, found {}; pass [message] for one message",
            list.get_type().name()?
        )));
    }
    if let Ok(list) = list.cast_exact::<PyList>() {
        let mut elements = with_memory(list.len())?;
        elements.extend(list.iter());
        return Ok(elements);
    }
    list.try_iter()?.collect()
}

/// Returns a slot per element, or none if all are `bytes`, which need no export.
fn slots<'py>(py: Python<'py>, elements: &[Any<'py>]) -> PyResult<Vec<Slot<'py>>> {
    if elements.iter().all(|element| element.is_exact_instance_of::<PyBytes>()) {
        return Ok(Vec::new());
    }
    let mut slots = with_memory(elements.len())?;
    slots.extend(elements.iter().map(|_| Slot::new(py)));
    Ok(slots)
}

/// Returns the bytes of each element.
fn sources<'a, 'py>(elements: &'a [Any<'py>], slots: &'a mut [Slot<'py>]) -> PyResult<Vec<&'a [u8]>> {
    let mut sources = with_memory(elements.len())?;
    if slots.is_empty() {
        let bytes = |element: &'a Any<'py>| Some(element.cast_exact::<PyBytes>().ok()?.as_bytes());
        sources.extend(elements.iter().filter_map(bytes));
    } else {
        for (index, (element, slot)) in elements.iter().zip(slots).enumerate() {
            let source = slot.read(element).map_err(|error| at_index(element.py(), index, error))?;
            sources.push(source.bytes());
        }
    }
    Ok(sources)
}

/// Adds the index of the element to the exception for an object that is not a contiguous buffer.
#[cold]
fn at_index(py: Python<'_>, index: usize, error: PyErr) -> PyErr {
    let text = format!("element {index}: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(text)
    } else if error.is_instance_of::<PyValueError>(py) {
        PyValueError::new_err(text)
    } else {
        error
    }
}

/// Returns the associated data of each message; None means empty.
fn aads_of<'py>(py: Python<'py>, aads: Option<&Any<'py>>) -> PyResult<Option<Vec<Any<'py>>>> {
    let mut aads = aads.filter(|aads| !aads.is_none()).map(|aads| elements("aads", aads)).transpose()?;
    for none in aads.iter_mut().flatten().filter(|aad| aad.is_none()) {
        *none = PyBytes::new(py, b"").into_any();
    }
    Ok(aads)
}

/// Runs `work` with the offsets in their type.
macro_rules! in_their_type {
    ($offsets:ident => $work:expr) => {
        match $offsets {
            Offsets::Narrow($offsets) => $work,
            Offsets::Wide($offsets) => $work,
        }
    };
}

/// Seals packed messages; see the method of the class.
pub(crate) fn seal_packed<'py>(
    core: &MessageKeys,
    data: &Any<'py>,
    offsets: &Any<'py>,
    aad: Option<&Any<'py>>,
) -> PyResult<Packed<'py>> {
    let (py, offsets) = (data.py(), Offsets::read(offsets)?);
    read!(py; data; optional aad);
    in_their_type!(offsets => {
        let results = core.sealed_offsets(&offsets, data.len()).map_err(raise)?;
        let cost = cost(data, &offsets, aad);
        let out = fresh(py, packed_len(&results), |out| {
            detached(py, cost, || core.seal_packed_into(data, &offsets, aad, out))
        })?;
        warn_near_limit(core, py)?;
        Ok((out, view_of_offsets(py, &results)?))
    })
}

/// Opens packed messages; see the method of the class.
pub(crate) fn open_packed<'py>(
    core: &MessageKeys,
    data: &Any<'py>,
    offsets: &Any<'py>,
    aad: Option<&Any<'py>>,
) -> PyResult<Packed<'py>> {
    let (py, offsets) = (data.py(), Offsets::read(offsets)?);
    read!(py; data; optional aad);
    in_their_type!(offsets => {
        let cost = cost(data, &offsets, aad);
        if core.is_keyring() {
            // The lengths depend on which key opens each message, so open first and copy.
            let open =
                || core.open_packed(data, &offsets, aad).map(|(out, ends)| (Zeroizing::new(out), ends));
            let (out, results) = detached(py, cost, open)?;
            return Ok((copied(py, &out)?, view_of_offsets(py, &results)?));
        }
        let results = core.opened_offsets(&offsets, data.len()).map_err(raise)?;
        let out = fresh(py, packed_len(&results), |out| {
            detached(py, cost, || core.open_packed_into(data, &offsets, aad, out))
        })?;
        Ok((out, view_of_offsets(py, &results)?))
    })
}

/// Raises the warning that is due near a key's message limit.
#[inline]
pub(crate) fn warn_near_limit(core: &MessageKeys, py: Python<'_>) -> PyResult<()> {
    if core.take_limit_warning() { usage_limit_warning(py) } else { Ok(()) }
}

/// Returns the cost of packed messages, in bytes.
fn cost<O>(data: &[u8], offsets: &[O], aad: &[u8]) -> usize {
    data.len() + aad.len() + offsets.len() * MESSAGE_COST
}

/// Returns the length of packed results.
fn packed_len<O: Offset>(offsets: &[O]) -> usize {
    // The core returns no negative offset and none beyond the address space.
    offsets.last().map_or(0, |&last| last.into() as usize)
}

/// Returns a new memoryview of offsets.
fn view_of_offsets<'py, O: Item>(py: Python<'py>, offsets: &[O]) -> PyResult<Any<'py>> {
    let bytes = fresh(py, size_of_val(offsets), |out| {
        for (slot, offset) in out.chunks_exact_mut(size_of::<O>()).zip(offsets) {
            offset.write(slot);
        }
        Ok(())
    })?;
    PyMemoryView::from(bytes.as_any())?.call_method1("cast", (O::FORMAT,))
}

/// Offsets of packed messages; each is read once from the caller's buffer.
enum Offsets {
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
}

/// An integer item of a buffer.
trait Item: Offset {
    /// Type code in Python's `struct` module.
    const FORMAT: &str;
    fn read(item: &[u8]) -> Self;
    fn write(self, item: &mut [u8]);
}

macro_rules! items {
    ($($integer:ty, $format:literal;)*) => {$(
        impl Item for $integer {
            const FORMAT: &str = $format;
            #[inline]
            fn read(item: &[u8]) -> Self {
                item.first_chunk().map_or(0, |item| Self::from_ne_bytes(*item))
            }
            #[inline]
            fn write(self, item: &mut [u8]) {
                item.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}

items! {
    i32, "i";
    i64, "q";
}

impl Offsets {
    /// Copies the items of a buffer of int32 or int64.
    ///
    /// # Errors
    /// Raises `TypeError` for other item types, and `ValueError` unless the items are contiguous
    /// and one-dimensional.
    fn read(offsets: &Any<'_>) -> PyResult<Self> {
        let view = PyMemoryView::from(offsets)?;
        let format: String = view.getattr("format")?.extract()?;
        let (size, dimensions): (usize, usize) =
            (view.getattr("itemsize")?.extract()?, view.getattr("ndim")?.extract()?);
        let native = if cfg!(target_endian = "little") { '<' } else { '>' };
        let kind = format.trim_start_matches(['@', '=', native]);
        if !matches!((kind, size), ("i" | "l" | "q", 4 | 8)) {
            return Err(PyTypeError::new_err(format!(
                "expected offsets of int32 or int64, found items of format {format:?}; for a buffer of Arrow, pass \
                 memoryview(buffer).cast(\"i\"), or \"q\" for a large column"
            )));
        }
        if dimensions != 1 {
            return Err(PyValueError::new_err(format!(
                "expected offsets in 1 dimension, found {dimensions}"
            )));
        }
        let mut slot = Slot::new(offsets.py());
        let bytes = slot.read(view.as_any())?.bytes();
        if size == 4 { Ok(Self::Narrow(items(bytes)?)) } else { Ok(Self::Wide(items(bytes)?)) }
    }
}

fn items<O: Item>(bytes: &[u8]) -> PyResult<Vec<O>> {
    let mut items = with_memory(bytes.len() / size_of::<O>())?;
    items.extend(bytes.chunks_exact(size_of::<O>()).map(O::read));
    Ok(items)
}
