//! Buffers between two inaccessible pages, so that an access out of bounds is a fault.

mod pages;

pub(crate) use pages::Pages;

/// The edge of the page at which the bytes are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edge {
    Start,
    End,
}

/// A page with an inaccessible page on either side.
pub(crate) struct GuardedBuffer {
    pages: Pages,
    /// Length of a page, and so of the accessible bytes.
    page: usize,
}

impl GuardedBuffer {
    pub(crate) fn new() -> Self {
        let page = pages::page_len();
        let mut pages = Pages::new(3 * page).unwrap();
        pages.make_accessible(page, page);
        Self { pages, page }
    }

    /// Returns `len` bytes at an edge.
    pub(crate) fn bytes(&mut self, len: usize, edge: Edge) -> &mut [u8] {
        assert!(len <= self.page);
        let skip = match edge {
            Edge::Start => 0,
            Edge::End => self.page - len,
        };
        // SAFETY: the bytes are in the accessible page, and `self` is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.pages.start().add(self.page + skip), len) }
    }
}
