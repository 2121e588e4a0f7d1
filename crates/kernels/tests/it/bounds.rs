//! A proof for every input: no lane of Poly1305 overflows, with the parameters of all variants.
//!
//! The algorithm body is generic over [`Limbs`]. Here it runs on abstract values: each lane is an
//! interval of integers and, where that is not enough, a formula. A group of the maximum number of
//! vectors is absorbed from full-range blocks, full-range powers and any accumulator that a group
//! can leave. Each operation checks that the mathematical result fits in the lane, and that
//! operands of multiplications have at most 32 or 52 bits. At the end the accumulator is again one
//! that a group can leave, so by induction this holds for messages of any length.
//!
//! Intervals alone would not do: Karatsuba's method subtracts sums of products, and the instruction
//! returns a product as low + 2^52 high. So a sum is also kept as a formula of these parts. `carry`
//! adds the low parts and 2^52 times the high parts, and there the formula becomes a polynomial in
//! the limbs, whose negative terms cancel exactly.
//!
//! The formulas do not depend on the instruction set, so the lanes of NEON are proved on x86-64
//! too. That an instruction computes what its operation in the vocabulary says is not proved here;
//! `every_poly1305.rs` tests it.

use super::body::{Input, Powers, group, multiply};
use super::radix::{Radix, Radix26, Radix44};
use super::scalar::Element;
use crate::vector::Token;
use crate::vector::limbs::{Limbs, Limbs32, Limbs52};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// An unknown number: a limb, a carry, or the low or high part of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    Limb(usize),
    Low(usize),
    High(usize),
}

/// Σ coefficient · atom, without a constant.
type Sum = BTreeMap<Atom, i128>;
/// Σ coefficient · limb · limb; the second is `None` for a linear term.
type Polynomial = BTreeMap<(usize, Option<usize>), i128>;

/// An integer that is between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range(i128, i128);

impl Range {
    fn contains(self, other: Self) -> bool {
        self.0 <= other.0 && other.1 <= self.1
    }

    fn times(self, factor: i128) -> Self {
        let (a, b) = (self.0 * factor, self.1 * factor);
        Self(a.min(b), a.max(b))
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }

    fn shr(self, n: u32) -> Self {
        Self(self.0 >> n, self.1 >> n)
    }

    fn intersect(self, other: Self) -> Self {
        Self(self.0.max(other.0), self.1.min(other.1))
    }
}

/// One lane.
#[derive(Clone, Debug)]
struct Value {
    range: Range,
    sum: Sum,
    /// The value is the sum divided by 2^`shift` and rounded down.
    shift: u32,
}

/// All values of a proof, and the limbs and products that they consist of. A vector holds indices
/// of values.
#[derive(Default)]
struct World {
    values: Vec<Value>,
    limbs: Vec<Range>,
    products: Vec<Polynomial>,
    /// The largest sums over lanes.
    lane_sums: Vec<i128>,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

/// A word in memory that stands for a value. No constant of the algorithm has these bits at the
/// top.
const HANDLE: u64 = 0x5eed << 48;
const WORD: Range = Range(0, u64::MAX as i128);
const SIGNED: Range = Range(i64::MIN as i128, i64::MAX as i128);

impl World {
    fn with<T>(run: impl FnOnce(&mut Self) -> T) -> T {
        WORLD.with_borrow_mut(run)
    }

    fn add(&mut self, value: Value) -> u32 {
        self.values.push(value);
        (self.values.len() - 1) as u32
    }

    /// Adds a number with only its range known.
    fn limb(&mut self, range: Range) -> u32 {
        assert!(range.0 <= range.1, "{range:?}");
        self.limbs.push(range);
        let sum =
            if range.0 == range.1 { Sum::new() } else { Sum::from([(Atom::Limb(self.limbs.len() - 1), 1)]) };
        self.add(Value { range, sum, shift: 0 })
    }

    /// Returns the value of a word: a constant unless it is a handle.
    fn word(&mut self, word: u64) -> u32 {
        match word >> 48 == HANDLE >> 48 {
            true => (word & 0xffff_ffff) as u32,
            false => self.limb(Range(word.into(), word.into())),
        }
    }

    fn get(&self, index: u32) -> Value {
        self.values[index as usize].clone()
    }

    /// Returns the bounds of a sum. Where it has the low and the high part of a product with the
    /// same factor, the product is multiplied out, so that terms of different products cancel.
    fn bounds(&self, sum: &Sum, constant: i128) -> Range {
        let (mut polynomial, mut rest) = (Polynomial::new(), Range(constant, constant));
        for (atom, factor) in sum {
            match *atom {
                Atom::Limb(limb) => *polynomial.entry((limb, None)).or_default() += factor,
                Atom::Low(product) if sum.get(&Atom::High(product)) == Some(&(factor << 52)) => {
                    for (term, coefficient) in &self.products[product] {
                        *polynomial.entry(*term).or_default() += factor * coefficient;
                    }
                }
                Atom::High(product) if sum.get(&Atom::Low(product)).map(|low| low << 52) == Some(*factor) => {
                }
                part => rest = rest.plus(self.part(part).times(*factor)),
            }
        }
        polynomial.iter().fold(rest, |bounds, ((a, b), factor)| {
            let (a, b) = (self.limbs[*a], b.map_or(Range(1, 1), |b| self.limbs[b]));
            assert!(a.0 >= 0 && b.0 >= 0);
            bounds.plus(Range(a.0 * b.0, a.1 * b.1).times(*factor))
        })
    }

    /// Returns the bounds of the low or high part of a product.
    fn part(&self, atom: Atom) -> Range {
        let whole = |product: usize| {
            let terms = self.products[product].iter();
            terms.fold(0, |most, ((a, b), factor)| {
                most + factor * self.limbs[*a].1 * b.map_or(1, |b| self.limbs[b].1)
            })
        };
        match atom {
            Atom::Limb(limb) => self.limbs[limb],
            Atom::Low(product) => Range(0, whole(product).min((1 << 52) - 1)),
            Atom::High(product) => Range(0, whole(product) >> 52),
        }
    }

    /// Returns the constant difference between a value and its formula.
    fn constant(value: &Value) -> i128 {
        if value.sum.is_empty() { value.range.0 } else { 0 }
    }

    fn plus(&mut self, a: u32, b: u32, factor: i128) -> u32 {
        let (a, b) = (self.get(a), self.get(b));
        let range = a.range.plus(b.range.times(factor));
        // floor(s / 2^n) + t = floor((s + 2^n t) / 2^n).
        let exact = a.shift == 0 || b.shift == 0;
        let shift = a.shift.max(b.shift);
        let (up_a, up_b) = (1 << (shift - a.shift), factor << (shift - b.shift));
        let constant = Self::constant(&a) * up_a + Self::constant(&b) * up_b;
        if !exact || (b.shift > 0 && factor != 1) {
            assert!(SIGNED.contains(range), "a sum overflows: {range:?}");
            return self.limb(range);
        }
        let mut sum = Sum::new();
        for (atom, f) in a
            .sum
            .iter()
            .map(|(atom, f)| (atom, f * up_a))
            .chain(b.sum.iter().map(|(atom, f)| (atom, f * up_b)))
        {
            *sum.entry(*atom).or_default() += f;
        }
        sum.retain(|_, factor| *factor != 0);
        let range = range.intersect(self.bounds(&sum, constant).shr(shift));
        assert!(SIGNED.contains(range), "a sum overflows: {range:?}");
        // A carry is a new number, and so is a sum with a constant, because formulas have no
        // constants.
        match shift > 0 || constant != 0 {
            true => self.limb(range),
            false => self.add(Value { range, sum, shift: 0 }),
        }
    }

    fn scaled(&mut self, a: u32, factor: i128) -> u32 {
        let a = self.get(a);
        let range = a.range.times(factor);
        assert!(SIGNED.contains(range), "a multiple overflows: {range:?}");
        if a.shift > 0 || a.sum.is_empty() {
            return self.limb(range);
        }
        let sum = a.sum.into_iter().map(|(atom, f)| (atom, f * factor)).collect();
        self.add(Value { range, sum, shift: 0 })
    }

    fn and(&mut self, a: u32, b: u32) -> u32 {
        let (va, vb) = (self.get(a), self.get(b));
        let (value, index, mask) = if vb.sum.is_empty() { (va, a, vb.range.0) } else { (vb, b, va.range.0) };
        assert!(mask == u64::MAX.into() || (mask + 1) & mask == 0, "not a mask of low bits: {mask:x}");
        match mask == u64::MAX.into() || (value.range.0 >= 0 && value.range.1 <= mask) {
            true => index,
            false if mask == 0 => self.limb(Range(0, 0)),
            // Also right for a negative number, in two's complement.
            false => self.limb(Range(0, mask)),
        }
    }

    fn or(&mut self, a: u32, b: u32) -> u32 {
        let (va, vb) = (self.get(a).range, self.get(b).range);
        assert!(va.0 >= 0 && vb.0 >= 0);
        match (va, vb) {
            (Range(0, 0), _) => b,
            (_, Range(0, 0)) => a,
            _ => {
                let bits = 128 - va.1.max(vb.1).leading_zeros();
                self.limb(Range(va.0.max(vb.0), ((1 << bits) - 1).min(va.1 + vb.1)))
            }
        }
    }

    /// Drops the bits above a word, like the instruction.
    fn shl(&mut self, a: u32, n: u32) -> u32 {
        let range = self.get(a).range;
        match SIGNED.contains(range.times(1 << n)) {
            true => self.scaled(a, 1 << n),
            false => {
                assert!(range.0 >= 0, "only full words may lose bits");
                self.limb(Range(0, WORD.1 - ((1 << n) - 1)))
            }
        }
    }

    fn shr(&mut self, a: u32, n: u32, signed: bool) -> u32 {
        let value = self.get(a);
        assert!(signed || value.range.0 >= 0, "a negative number is shifted as a positive one");
        let range = value.range.shr(n);
        match value.shift == 0 && !value.sum.is_empty() && Self::constant(&value) == 0 {
            true => self.add(Value { range, sum: value.sum, shift: n }),
            false => self.limb(range),
        }
    }

    /// Returns a factor of a multiplication of `bits` bits as a linear polynomial, or panics if it
    /// is longer.
    fn factor(&self, index: u32, bits: u32) -> Vec<(Option<usize>, i128)> {
        let value = self.get(index);
        assert!(
            Range(0, (1 << bits) - 1).contains(value.range),
            "a factor exceeds {bits} bits: {:?}",
            value.range
        );
        assert_eq!(value.shift, 0);
        if value.sum.is_empty() {
            return vec![(None, value.range.0)];
        }
        let limb = |(atom, factor): (&Atom, &i128)| match atom {
            Atom::Limb(limb) => (Some(*limb), *factor),
            _ => panic!("a factor is a sum of parts of products"),
        };
        value.sum.iter().map(limb).collect()
    }

    fn product(&mut self, a: u32, b: u32) -> usize {
        let (a, b) = (self.factor(a, 52), self.factor(b, 52));
        let mut product = Polynomial::new();
        for ((a, f), (b, g)) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
            let term = match (a, b) {
                (Some(a), Some(b)) => (*a.min(b), Some(*a.max(b))),
                (Some(limb), None) | (None, Some(limb)) => (*limb, None),
                // A product of constants: zero is the only one that occurs.
                (None, None) => {
                    assert_eq!(f * g, 0);
                    continue;
                }
            };
            *product.entry(term).or_default() += f * g;
        }
        self.products.push(product);
        self.products.len() - 1
    }
}

/// The abstract token, with `LANES` lanes.
#[derive(Clone, Copy)]
struct Abstract<const LANES: usize>;

type V = [u32; 8];

impl<const LANES: usize> Abstract<LANES> {
    fn each(self, mut lane: impl FnMut(&mut World, usize) -> u32) -> V {
        World::with(|world| {
            let mut v = [0; 8];
            (0..LANES).for_each(|i| v[i] = lane(world, i));
            v
        })
    }

    /// Returns a vector with a new number in this range in each lane.
    fn unknown(self, range: Range) -> V {
        self.each(|world, _| world.limb(range))
    }

    /// Returns the range of all lanes.
    fn range(self, v: V) -> Range {
        let ranges = World::with(|world| v[..LANES].iter().map(|i| world.get(*i).range).collect::<Vec<_>>());
        ranges.into_iter().reduce(|a, b| Range(a.0.min(b.0), a.1.max(b.1))).unwrap()
    }
}

impl<const LANES: usize> Token for Abstract<LANES> {}

impl<const N: usize> Limbs for Abstract<N> {
    const LANES: usize = N;
    const ORDER: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
    type V = V;

    /// Blocks of any value, whatever the bytes are.
    fn load_bytes(self, _: &[u8]) -> V {
        self.unknown(WORD)
    }
    fn store_bytes(self, _: V, _: &mut [u8]) {
        unreachable!("the proof copies nothing")
    }
    fn halves(self, blocks: [V; 2]) -> [V; 2] {
        blocks
    }
    fn load_words(self, from: &[u64]) -> V {
        self.each(|world, i| world.word(from[i]))
    }
    fn store_words(self, v: V, to: &mut [u64]) {
        (0..N).for_each(|i| to[i] = HANDLE | u64::from(v[i]));
    }
    fn splat(self, x: u64) -> V {
        self.each(|world, _| world.word(x))
    }
    fn zero_extend(self, x: u64) -> V {
        self.each(|world, i| world.word(if i == 0 { x } else { 0 }))
    }
    fn sum_lanes(self, v: V) -> u64 {
        World::with(|world| {
            let sum = v[..N].iter().map(|i| world.get(*i).range).reduce(Range::plus).unwrap();
            assert!(WORD.contains(sum), "a sum of lanes overflows: {sum:?}");
            world.lane_sums.push(sum.1);
        });
        0
    }
    fn add(self, a: V, b: V) -> V {
        self.each(|world, i| world.plus(a[i], b[i], 1))
    }
    fn and(self, a: V, b: V) -> V {
        self.each(|world, i| world.and(a[i], b[i]))
    }
    fn or(self, a: V, b: V) -> V {
        self.each(|world, i| world.or(a[i], b[i]))
    }
    fn shl<const S: u32>(self, v: V) -> V {
        self.each(|world, i| world.shl(v[i], S))
    }
    fn shr<const S: u32>(self, v: V) -> V {
        self.each(|world, i| world.shr(v[i], S, false))
    }
}

impl<const N: usize> Limbs52 for Abstract<N> {
    fn sub(self, a: V, b: V) -> V {
        self.each(|world, i| world.plus(a[i], b[i], -1))
    }
    fn shr_signed<const S: u32>(self, v: V) -> V {
        self.each(|world, i| world.shr(v[i], S, true))
    }
    fn times_20(self, v: V) -> V {
        self.each(|world, i| world.scaled(v[i], 20))
    }
    fn add_low(self, sum: V, a: V, b: V) -> V {
        self.each(|world, i| {
            let product = world.product(a[i], b[i]);
            let low = Value {
                range: world.part(Atom::Low(product)),
                sum: Sum::from([(Atom::Low(product), 1)]),
                shift: 0,
            };
            let low = world.add(low);
            world.plus(sum[i], low, 1)
        })
    }
    /// The product is the one of the `add_low` before it, which the formulas need to have the same
    /// number.
    fn add_high(self, sum: V, a: V, b: V) -> V {
        self.each(|world, i| {
            let again = world.product(a[i], b[i]);
            let product = again - N;
            assert_eq!(
                world.products[again], world.products[product],
                "add_high does not follow its add_low"
            );
            let high = Atom::High(product);
            let high = Value { range: world.part(high), sum: Sum::from([(high, 1)]), shift: 0 };
            let high = world.add(high);
            world.plus(sum[i], high, 1)
        })
    }
}

impl<const N: usize> Limbs32 for Abstract<N> {
    type Narrow = V;

    fn narrow(self, v: V) -> V {
        World::with(|world| v[..N].iter().for_each(|i| _ = world.factor(*i, 32)));
        v
    }
    /// The upper half of a handle is lost where a word of memory is narrowed. Zero is the only
    /// constant.
    fn splat_narrow(self, x: u32) -> V {
        self.narrow(self.splat(if x == 0 { 0 } else { HANDLE | u64::from(x) }))
    }
    fn product(self, a: V, b: V) -> V {
        self.each(|world, i| {
            let (a, b) = (world.get(a[i]).range, world.get(b[i]).range);
            assert!(a.0 >= 0 && b.0 >= 0);
            world.limb(Range(a.0 * b.0, a.1 * b.1))
        })
    }
    fn add_product(self, sum: V, a: V, b: V) -> V {
        // Intervals suffice, so no formula grows with the number of products.
        let sum = self.unknown_like(sum);
        self.add(sum, self.product(a, b))
    }
}

impl<const N: usize> Abstract<N> {
    /// Forgets the formulas of a vector.
    fn unknown_like(self, v: V) -> V {
        self.each(|world, i| {
            let range = world.get(v[i]).range;
            world.limb(range)
        })
    }
}

const fn below(bound: i128) -> Range {
    Range(0, bound - 1)
}

/// Proves that a group of `STEPS` vectors, and the last vector, overflow nowhere and leave elements
/// within `after`.
///
/// `start` are the limbs of an accumulator before the first group, and `powers` those of powers of
/// r, also `after` a multiplication of two powers.
fn prove<const LANES: usize, const L: usize, R>(
    elements: fn([V; L]) -> R::Elements,
    limbs: fn(R::Elements) -> [V; L],
    steps: usize,
    [start, power, after]: [[Range; L]; 3],
    max_lane_sum: i128,
) where
    R: Radix<Abstract<LANES>>,
{
    let p = Abstract::<LANES>;
    let fresh = |ranges: [Range; L]| elements(ranges.map(|range| p.unknown(range)));
    let hull: [Range; L] = core::array::from_fn(|i| Range(0, start[i].1.max(after[i].1)));
    let within = |name: &str, found: R::Elements| {
        for (limb, (found, allowed)) in limbs(found).iter().zip(after).enumerate() {
            let found = p.range(*found);
            assert!(allowed.contains(found), "{name}: limb {limb} is in {found:?}, not in {allowed:?}");
        }
    };
    let factor: [Range; L] = core::array::from_fn(|i| Range(0, power[i].1.max(after[i].1)));

    // A product of two powers, from which the next powers are computed, is within the bounds of a
    // power.
    within("powers", multiply::<_, R>(p, fresh(factor), R::factors(p, fresh(factor))));

    let mut powers = Powers::EMPTY;
    let stride = powers.steps.len() / R::WORDS;
    assert_eq!(stride, steps, "the number of vectors that are aggregated");
    for step in (0..steps).step_by(LANES) {
        R::store_factors(p, fresh(factor), &mut powers.steps[step..], stride);
    }
    let blocks = vec![0; steps * 16 * LANES];
    for vectors in [1, 2, 3, steps / 2, steps - 1, steps] {
        let h = group::<_, R>(p, fresh(hull), &powers.steps, &blocks[..vectors * 16 * LANES]);
        within("group", h);
    }
    R::store_factors(p, fresh(factor), &mut powers.last, LANES);
    let last = multiply::<_, R>(
        p,
        R::add(p, fresh(hull), R::elements(p, (&blocks[..]).load(p))),
        R::load_factors(p, &powers.last),
    );
    within("last vector", last);
    World::with(|world| world.lane_sums.clear());
    let _ = R::sum_lanes(p, last);
    let sums = World::with(|world| std::mem::take(&mut world.lane_sums));
    assert!(sums.len() == L && sums.iter().all(|sum| *sum < max_lane_sum), "{sums:?}");
    World::with(|world| *world = World::default());
}

/// AVX-512 IFMA.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn no_lane_overflows_with_limbs_of_44_bits() {
    const B44: Range = below(1 << 44);
    // `Element::from_words` with a third word of at most 4.
    let start = [B44, B44, below((4 << 40) + (1 << 40))];
    // The bounds of `Element`, also for a power that the scalar code computes.
    let power = [B44, below((1 << 44) + (1 << 10)), below(1 << 42)];
    let after = [B44, below((1 << 44) + (1 << 12)), below(1 << 42)];
    // `Element::to_words` takes limbs below 2^52.
    prove::<8, 3, Radix44>(|e| e, |e| e, 24, [start, power, after], 1 << 52);
}

/// AVX2 and NEON.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn no_lane_overflows_with_limbs_of_26_bits() {
    const B26: Range = below(1 << 26);
    let start = [B26, B26, B26, B26, below(5 << 24)];
    let power = [B26, B26, B26, B26, below((1 << 26) + 1)];
    let after = [B26, below((1 << 26) + (1 << 12)), B26, B26, below((1 << 26) + (1 << 12))];
    // `Radix26::sum_lanes` states this bound.
    prove::<4, 5, Radix26>(|e| e, |e| e, 16, [start, power, after], 1 << 29);
}

/// The proof finds an overflow if there is one: with more vectors than the table of powers allows.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn the_proof_fails_with_more_vectors() {
    let p = Abstract::<1>;
    let fails = |vectors: usize| {
        let run = || {
            let number = [below(1 << 45), below(1 << 45), below(1 << 44)];
            let mut sums = <Radix44 as Radix<Abstract<1>>>::zero(p);
            for _ in 0..vectors {
                let (a, b) = (number.map(|range| p.unknown(range)), number.map(|range| p.unknown(range)));
                sums = Radix44::add_products(p, sums, a, Radix44::factors(p, b));
            }
            <Radix44 as Radix<Abstract<1>>>::carry(p, sums);
        };
        let failed = std::panic::catch_unwind(run).is_err();
        World::with(|world| *world = World::default());
        failed
    };
    assert!(!fails(24));
    assert!(fails(200));
}

/// The scalar code only adds and multiplies before it masks, so its largest results come from the
/// largest operands, and these do not overflow: the arithmetic of a test build is checked.
#[test]
#[cfg(debug_assertions)]
fn no_word_of_the_scalar_code_overflows() {
    const M44: u64 = (1 << 44) - 1;
    let largest = Element([M44, M44 + (1 << 10), (1 << 43) - 1]);
    let Element([l0, l1, l2]) = largest.mul(largest);
    assert!(l0 <= M44 && l1 < (1 << 44) + (1 << 10) && l2 < 1 << 42);
    let [_, _, h2] = Element([(1 << 52) - 1; 3]).to_words();
    assert!(h2 <= 4);
    let mut state = super::scalar::State::start(&[0xff; 32]);
    state.set_accumulator([u64::MAX, u64::MAX, 4]);
    state.blocks(&[0xff; 64]);
    assert!(state.accumulator()[2] <= 4);
    state.set_accumulator([u64::MAX, u64::MAX, 4]);
    state.absorb_sum(largest, [u64::MAX, u64::MAX, 4]);
    assert!(state.accumulator()[2] <= 4);
}
