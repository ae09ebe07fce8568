//! Layout of the map of all notes: one disc for each project, and inside it similar notes near each
//! other. The layout is deterministic, and a note or a disc that was placed once never moves.

use std::collections::{BTreeMap, HashMap};

use crate::embed::STATIC_VECTOR_DIMS;

/// Share of the unit square that the first discs fill; the rest is for later projects.
const FILLED_SHARE: f32 = 0.86;
/// Number of notes that are added to the size of each project, so that small ones are visible.
const SIZE_OFFSET: f32 = 12.0;
/// Maximum number of notes by which the leading components are computed.
const MAX_SAMPLE: usize = 1_500;
/// Maximum number of placed notes that a new note is compared with.
const MAX_COMPARED: usize = 4_000;
/// Number of rounds of the power iteration.
const ITERATIONS: usize = 24;
/// Number of nearest notes whose mean is the place of a new note.
const NEAREST: usize = 5;
/// Distance of a random shift, as a share of the disc's radius.
const JITTER: f32 = 0.035;

/// A note to be placed.
#[derive(Clone, Debug)]
pub struct MapNote {
    /// Stable key of the note.
    pub key: u64,
    /// Mean vector of its passages; zero if it has none.
    pub vector: [i8; STATIC_VECTOR_DIMS],
}

/// A disc of the map, in the unit square.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MapDisc {
    /// Centre.
    pub x: f32,
    /// Centre.
    pub y: f32,
    /// Radius.
    pub radius: f32,
}

/// Places of projects and notes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MapLayout {
    /// Disc of each project.
    pub discs: BTreeMap<String, MapDisc>,
    /// Place of each note, by its key.
    pub points: HashMap<u64, (f32, f32)>,
}

impl MapLayout {
    /// Places what has no place yet. Returns true if something was placed.
    pub fn place(&mut self, projects: &BTreeMap<String, Vec<MapNote>>) -> bool {
        let mut is_changed = self.place_discs(projects);
        for (name, notes) in projects {
            if let Some(disc) = self.discs.get(name).copied() {
                is_changed |= self.place_notes(disc, notes);
            }
        }
        is_changed
    }

    fn place_discs(&mut self, projects: &BTreeMap<String, Vec<MapNote>>) -> bool {
        let mut new: Vec<(&String, f32)> = projects
            .iter()
            .filter(|(name, _)| !self.discs.contains_key(*name))
            .map(|(name, notes)| (name, (notes.len() as f32 + SIZE_OFFSET).sqrt()))
            .collect();
        if new.is_empty() {
            return false;
        }
        new.sort_by(|(a, a_size), (b, b_size)| b_size.total_cmp(a_size).then(a.cmp(b)));
        if self.discs.is_empty() {
            let packed = pack(&new.iter().map(|(_, size)| *size).collect::<Vec<_>>());
            for ((name, _), disc) in new.iter().zip(packed) {
                self.discs.insert((*name).clone(), disc);
            }
        } else {
            for (name, _) in new {
                let disc = free_disc(self.discs.values().copied());
                self.discs.insert(name.clone(), disc);
            }
        }
        true
    }

    fn place_notes(&mut self, disc: MapDisc, notes: &[MapNote]) -> bool {
        let (mut placed, mut new): (Vec<&MapNote>, Vec<&MapNote>) =
            notes.iter().partition(|note| self.points.contains_key(&note.key));
        if new.is_empty() {
            return false;
        }
        new.sort_by_key(|note| note.key);
        placed.sort_by_key(|note| note.key);
        if placed.is_empty() {
            for (note, (x, y)) in new.iter().zip(component_places(&new)) {
                let (dx, dy) = jitter(note.key);
                let place = within(disc, x + dx, y + dy);
                self.points.insert(note.key, place);
            }
            return true;
        }
        let stride = placed.len().div_ceil(MAX_COMPARED).max(1);
        let compared: Vec<&MapNote> = placed.into_iter().step_by(stride).collect();
        for note in new {
            let place = self.nearest_place(disc, note, &compared);
            self.points.insert(note.key, place);
        }
        true
    }

    /// Returns the mean place of the most similar notes.
    fn nearest_place(&self, disc: MapDisc, note: &MapNote, placed: &[&MapNote]) -> (f32, f32) {
        let mut alike: Vec<(i64, u64)> = placed
            .iter()
            .map(|other| (similarity(&note.vector, &other.vector), other.key))
            .collect();
        alike.sort_by(|a, b| b.cmp(a));
        let near = alike.iter().take(NEAREST).filter_map(|(_, key)| self.points.get(key));
        let (mut x, mut y, mut count) = (0.0, 0.0, 0.0);
        for (near_x, near_y) in near {
            (x, y, count) = (x + near_x, y + near_y, count + 1.0);
        }
        let (dx, dy) = jitter(note.key);
        let (x, y) = if count > 0.0 { (x / count, y / count) } else { (disc.x, disc.y) };
        let radius = disc.radius.max(f32::MIN_POSITIVE);
        within(disc, (x - disc.x) / radius + 2.0 * dx, (y - disc.y) / radius + 2.0 * dy)
    }
}

/// Packs discs without overlap, the largest in the middle, into the unit square.
fn pack(sizes: &[f32]) -> Vec<MapDisc> {
    let mut discs: Vec<MapDisc> = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let gap = size * 0.12;
        let is_free = |x: f32, y: f32| {
            discs.iter().all(|disc| {
                let (dx, dy) = (disc.x - x, disc.y - y);
                dx.hypot(dy) >= disc.radius + size + gap
            })
        };
        // A spiral, wider than high like most screens.
        let mut place = (0.0, 0.0);
        for step in 0..40_000u16 {
            let turn = f32::from(step) * 0.05;
            let distance = turn * size.max(1.0) * 0.05;
            let candidate = (distance * turn.cos() * 1.35, distance * turn.sin());
            place = candidate;
            if is_free(candidate.0, candidate.1) {
                break;
            }
        }
        discs.push(MapDisc { x: place.0, y: place.1, radius: size });
    }
    let low = |of: fn(&MapDisc) -> f32| {
        discs.iter().map(|disc| of(disc) - disc.radius).fold(f32::INFINITY, f32::min)
    };
    let high = |of: fn(&MapDisc) -> f32| {
        discs.iter().map(|disc| of(disc) + disc.radius).fold(f32::NEG_INFINITY, f32::max)
    };
    let (left, right) = (low(|disc| disc.x), high(|disc| disc.x));
    let (top, bottom) = (low(|disc| disc.y), high(|disc| disc.y));
    let scale = FILLED_SHARE / (right - left).max(bottom - top).max(1.0);
    let (middle_x, middle_y) = ((left + right) / 2.0, (top + bottom) / 2.0);
    let scaled = |disc: &MapDisc| MapDisc {
        x: 0.5 + (disc.x - middle_x) * scale,
        y: 0.5 + (disc.y - middle_y) * scale,
        radius: disc.radius * scale,
    };
    discs.iter().map(scaled).collect()
}

/// Returns a disc for a later project, in free space as far as there is some.
fn free_disc(known: impl Iterator<Item = MapDisc>) -> MapDisc {
    let known: Vec<MapDisc> = known.collect();
    let mut best = MapDisc { x: 0.5, y: 0.5, radius: 0.02 };
    let mut most = f32::NEG_INFINITY;
    for row in 1..40u8 {
        for column in 1..40u8 {
            let (x, y) = (f32::from(column) / 40.0, f32::from(row) / 40.0);
            let border = x.min(1.0 - x).min(y).min(1.0 - y);
            let room = known
                .iter()
                .map(|disc| (disc.x - x).hypot(disc.y - y) - disc.radius)
                .fold(border, f32::min);
            if room > most {
                (most, best) = (room, MapDisc { x, y, radius: best.radius });
            }
        }
    }
    best.radius = (most * 0.9).clamp(0.015, 0.08);
    best
}

/// Returns the place of each note by the two leading components of the vectors, in the unit disc.
fn component_places(notes: &[&MapNote]) -> Vec<(f32, f32)> {
    let stride = notes.len().div_ceil(MAX_SAMPLE).max(1);
    let sample: Vec<&MapNote> = notes.iter().copied().step_by(stride).collect();
    let mut mean = [0.0f32; STATIC_VECTOR_DIMS];
    for note in &sample {
        for (sum, number) in mean.iter_mut().zip(note.vector) {
            *sum += f32::from(number);
        }
    }
    mean.iter_mut().for_each(|sum| *sum /= sample.len().max(1) as f32);
    let first = leading_component(&sample, &mean, None);
    let second = leading_component(&sample, &mean, Some(&first));
    let along = |axis: &[f32; STATIC_VECTOR_DIMS]| -> Vec<f32> {
        let values: Vec<f32> =
            notes.iter().map(|note| projected(&note.vector, &mean, axis)).collect();
        ranks(&values, notes)
    };
    // Ranks fill the square evenly; the square is mapped to the disc.
    along(&first).into_iter().zip(along(&second)).map(|(x, y)| square_to_disc(x, y)).collect()
}

/// Returns the direction of the largest spread, at a right angle to another.
fn leading_component(
    sample: &[&MapNote],
    mean: &[f32; STATIC_VECTOR_DIMS],
    other: Option<&[f32; STATIC_VECTOR_DIMS]>,
) -> [f32; STATIC_VECTOR_DIMS] {
    let mut axis = [0.0f32; STATIC_VECTOR_DIMS];
    for (n, value) in axis.iter_mut().enumerate() {
        *value = if n % 2 == usize::from(other.is_some()) { 1.0 } else { 0.5 };
    }
    for _ in 0..ITERATIONS {
        if let Some(other) = other {
            let share: f32 = axis.iter().zip(other).map(|(a, b)| a * b).sum();
            axis.iter_mut().zip(other).for_each(|(a, b)| *a -= share * b);
        }
        let mut next = [0.0f32; STATIC_VECTOR_DIMS];
        for note in sample {
            let amount = projected(&note.vector, mean, &axis);
            for ((sum, number), mean) in next.iter_mut().zip(note.vector).zip(mean) {
                *sum += amount * (f32::from(number) - mean);
            }
        }
        let length = next.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length < f32::EPSILON {
            break;
        }
        next.iter_mut().for_each(|value| *value /= length);
        axis = next;
    }
    if let Some(other) = other {
        let share: f32 = axis.iter().zip(other).map(|(a, b)| a * b).sum();
        axis.iter_mut().zip(other).for_each(|(a, b)| *a -= share * b);
    }
    axis
}

fn projected(
    vector: &[i8; STATIC_VECTOR_DIMS],
    mean: &[f32; STATIC_VECTOR_DIMS],
    axis: &[f32; STATIC_VECTOR_DIMS],
) -> f32 {
    let parts = vector.iter().zip(mean).zip(axis);
    parts.map(|((number, mean), axis)| (f32::from(*number) - mean) * axis).sum()
}

/// Returns the rank of each value, from -1 to 1.
fn ranks(values: &[f32], notes: &[&MapNote]) -> Vec<f32> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let value = |n: usize| values.get(n).copied().unwrap_or(0.0);
    let key = |n: usize| notes.get(n).map_or(0, |note| note.key);
    order.sort_by(|&a, &b| value(a).total_cmp(&value(b)).then(key(a).cmp(&key(b))));
    let mut ranks = vec![0.0; values.len()];
    let last = values.len().saturating_sub(1).max(1) as f32;
    for (rank, n) in order.into_iter().enumerate() {
        if let Some(place) = ranks.get_mut(n) {
            *place = if values.len() == 1 { 0.0 } else { rank as f32 / last * 2.0 - 1.0 };
        }
    }
    ranks
}

/// Maps the square from -1 to 1 to the unit disc, so that areas stay equal.
fn square_to_disc(x: f32, y: f32) -> (f32, f32) {
    (x * (1.0 - y * y / 2.0).max(0.0).sqrt(), y * (1.0 - x * x / 2.0).max(0.0).sqrt())
}

/// Returns a small shift that follows from the key.
fn jitter(key: u64) -> (f32, f32) {
    let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let part = |bits: u64| (bits & 0xffff) as f32 / 65_535.0 * 2.0 - 1.0;
    (part(mixed >> 16) * JITTER, part(mixed >> 40) * JITTER)
}

/// Returns a place in a disc, kept inside it.
fn within(disc: MapDisc, x: f32, y: f32) -> (f32, f32) {
    let length = x.hypot(y).max(1.0);
    let place = |middle: f32, offset: f32| {
        let exact = middle + offset / length * disc.radius * 0.97;
        (exact * 10_000.0).round() / 10_000.0
    };
    (place(disc.x, x), place(disc.y, y))
}

fn similarity(a: &[i8; STATIC_VECTOR_DIMS], b: &[i8; STATIC_VECTOR_DIMS]) -> i64 {
    let sum: i32 = a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
    i64::from(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(key: u64) -> MapNote {
        let mut vector = [0i8; STATIC_VECTOR_DIMS];
        let mut state = key.wrapping_add(1);
        for number in &mut vector {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *number = (state >> 56) as i8;
        }
        MapNote { key, vector }
    }

    fn projects(sizes: &[(&str, u64)]) -> BTreeMap<String, Vec<MapNote>> {
        let mut first = 0;
        let project = |(name, size): &(&str, u64)| {
            let notes = (first..first + size).map(note).collect();
            first += size;
            ((*name).to_owned(), notes)
        };
        sizes.iter().map(project).collect()
    }

    #[test]
    fn discs_do_not_overlap_and_everything_is_in_the_square() {
        let all = projects(&[("a", 400), ("b", 90), ("c", 3), ("d", 0), ("e", 41)]);
        let mut layout = MapLayout::default();
        assert!(layout.place(&all));
        assert_eq!((layout.discs.len(), layout.points.len()), (5, 534));
        let discs: Vec<MapDisc> = layout.discs.values().copied().collect();
        for (n, a) in discs.iter().enumerate() {
            for b in discs.iter().skip(n + 1) {
                assert!((a.x - b.x).hypot(a.y - b.y) >= a.radius + b.radius, "{a:?} {b:?}");
            }
        }
        for (x, y) in layout.points.values() {
            assert!((0.0..=1.0).contains(x) && (0.0..=1.0).contains(y), "{x} {y}");
        }
    }

    #[test]
    fn the_layout_is_the_same_each_time_and_nothing_moves() {
        let mut layout = MapLayout::default();
        layout.place(&projects(&[("a", 300), ("b", 40)]));
        let mut again = MapLayout::default();
        again.place(&projects(&[("a", 300), ("b", 40)]));
        assert_eq!(layout, again);
        let before = layout.clone();
        let mut more = projects(&[("a", 300), ("b", 40)]);
        more.get_mut("a").unwrap().extend((1000..1100).map(note));
        more.insert("new".to_owned(), (2000..2005).map(note).collect());
        assert!(layout.place(&more));
        assert!(!layout.place(&more));
        assert_eq!(layout.points.len(), before.points.len() + 105);
        for (key, place) in &before.points {
            assert_eq!(layout.points.get(key), Some(place));
        }
        for (name, disc) in &before.discs {
            assert_eq!(layout.discs.get(name), Some(disc));
        }
    }

    #[test]
    fn a_new_note_lies_near_its_like() {
        let mut all = projects(&[("a", 200)]);
        let mut layout = MapLayout::default();
        layout.place(&all);
        let twin = MapNote { key: 9_999, ..note(17) };
        all.get_mut("a").unwrap().push(twin);
        layout.place(&all);
        assert!(layout.points.contains_key(&9_999));
        let empty = MapLayout::default().place(&BTreeMap::new());
        assert!(!empty);
    }
}
