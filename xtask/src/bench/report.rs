//! Renders the benchmark page: every budget with the raw limit that it is a ratio of. Missing
//! measurements are marked.

use std::fmt::Write as _;
use std::time::Duration;

use super::process::{ProcessSamples, RECORDS};
use super::samples::TimeSamples;
use super::size::SizeResults;
use super::volume::VolumeResults;

/// Number of notes of most budgets.
const BUDGET_SIZE: usize = 10_000;

/// Number of notes at which search has an absolute time limit.
const LARGE_SIZE: usize = 100_000;

const NOT_MEASURED: &str = "–";

/// All measurements of one run.
pub(super) struct BenchReport {
    pub(super) machine: Vec<(&'static str, String)>,
    pub(super) command: String,
    pub(super) date: String,
    pub(super) processes: ProcessSamples,
    /// By size, in ascending order.
    pub(super) sizes: Vec<SizeResults>,
}

/// Explanations of the results.
const EXPLANATIONS: &str = include_str!("explanations.md");

/// Renders the whole page.
pub(super) fn render(report: &BenchReport) -> String {
    let mut page = String::from(
        "# Benchmarks\n\n\
         The limit is the machine: the same work done raw, measured in the same run on the same disk,\n\
         alternating with ours. Budgets are ratios to that limit. Absolute times depend on the machine and its\n\
         load; ratios hardly do.\n\n",
    );
    let _ = writeln!(page, "Measured on {} by `{}`.\n", report.date, report.command);
    page.push_str("| Machine | |\n|---|---|\n");
    for (what, which) in &report.machine {
        let _ = writeln!(page, "| {what} | {which} |");
    }
    page.push_str("\n## Budgets\n\n| Work | Budget | Raw | Ours | Ratio | Verdict |\n");
    page.push_str("|---|---|---|---|---|---|\n");
    for row in budgets(report) {
        page.push_str(&row.render());
    }
    page.push_str(
        "\nRaw steps of a durable write: append 1 KB + fdatasync, write + rename, one FTS5 insert committed in WAL\n\
         mode. Ours is a call of the engine as a server makes it, without a transport. Raw search: BM25 over one\n\
         FTS5 row per note, ten hits. A quarter each of the queries has words of a single note, words in one note of\n\
         a hundred, words in every third note or more, and two to four of these as alternatives. The time of the\n\
         first index without vectors is computed: the measured time minus that of all vectors one after the other.\n\
         This subtracts more than the vectors cost while the other core writes.\n",
    );
    page.push_str(EXPLANATIONS);
    growth(&mut page, &report.sizes);
    raw_limits(&mut page, report);
    page
}

/// The limit of a measurement.
enum BudgetLimit {
    /// Maximum multiple of the raw work.
    Times(f64),
    /// Maximum time.
    Within(Duration),
    /// Maximum number of bytes.
    Bytes(u64),
}

/// One budget with its measurement.
struct BudgetRow {
    work: String,
    limit: BudgetLimit,
    /// Description of the raw work that the limit is a multiple of.
    of: &'static str,
    raw: Option<Duration>,
    ours: Option<MeasuredValue>,
}

enum MeasuredValue {
    Time(Duration),
    Bytes(u64),
}

impl BudgetRow {
    fn render(&self) -> String {
        let budget = match self.limit {
            BudgetLimit::Times(times) => format!("≤ {times} × {}", self.of),
            BudgetLimit::Within(most) => format!("≤ {}", time(most)),
            BudgetLimit::Bytes(most) => format!("≤ {}", bytes(most)),
        };
        let raw = self.raw.map_or(NOT_MEASURED.into(), time);
        let (ours, ratio, verdict) = match (&self.ours, &self.limit) {
            (Some(MeasuredValue::Time(ours)), BudgetLimit::Times(times)) => {
                let ratio = self.raw.map(|raw| ratio(*ours, raw));
                let verdict = ratio.map_or("not measured", |ratio| verdict(ratio, *times));
                let ratio = ratio.map_or(NOT_MEASURED.into(), |ratio| format!("{ratio:.2}"));
                (time(*ours), ratio, verdict)
            }
            (Some(MeasuredValue::Time(ours)), BudgetLimit::Within(most)) => {
                let ratio = ratio(*ours, *most);
                (time(*ours), format!("{ratio:.2}"), verdict(ratio, 1.0))
            }
            (Some(MeasuredValue::Bytes(ours)), BudgetLimit::Bytes(most)) => {
                let ratio = *ours as f64 / *most as f64;
                (bytes(*ours), format!("{ratio:.2}"), verdict(ratio, 1.0))
            }
            (None, _) | (Some(_), _) => (NOT_MEASURED.into(), NOT_MEASURED.into(), "not measured"),
        };
        format!("| {} | {budget} | {raw} | {ours} | {ratio} | {verdict} |\n", self.work)
    }
}

fn budgets(report: &BenchReport) -> Vec<BudgetRow> {
    let mut rows = Vec::new();
    let row = |work: String, times, of, raw, ours: Option<Duration>| BudgetRow {
        work,
        limit: BudgetLimit::Times(times),
        of,
        raw: Some(raw),
        ours: ours.map(MeasuredValue::Time),
    };
    let processes = &report.processes;
    let bare = processes.bare_start.p50();
    let start = |samples: &Option<TimeSamples>| samples.as_ref().map(TimeSamples::p50);
    let of = "a bare process that opens SQLite";
    rows.push(row(
        "cold start of `memoranda --version`, p50".into(),
        2.0,
        of,
        bare,
        start(&processes.version),
    ));
    rows.push(row(
        "cold start of `memoranda status`, p50".into(),
        2.0,
        of,
        bare,
        start(&processes.status),
    ));
    rows.push(row(
        "cold start of `memoranda mcp` until its tools are listed, p50".into(),
        2.0,
        of,
        bare,
        start(&processes.mcp_start),
    ));
    rows.push(BudgetRow {
        work: "release binary".into(),
        limit: BudgetLimit::Bytes(45 << 20),
        of: "",
        raw: None,
        ours: Some(MeasuredValue::Bytes(processes.binary)),
    });
    rows.extend(processes.volume.iter().flat_map(volume_budgets));
    let Some(at) = report.sizes.iter().rev().find(|at| at.notes <= BUDGET_SIZE) else {
        return rows;
    };
    let notes = number(at.notes);
    let raw = &at.raw;
    let ours = &at.ours;
    let beside = processes.mcp_write.as_ref();
    rows.push(row(
        "durable write over MCP stdio, small vault, p50".into(),
        1.5,
        "its raw steps",
        beside.map_or(raw.write_p50() + processes.round_trip.p50(), |writes| writes.raw.p50()),
        beside.map(|writes| writes.ours.p50()),
    ));
    let records = number(RECORDS);
    rows.push(row(
        format!("one-shot `get_context`, {records} records, p50"),
        3.0,
        "`memoranda --version`",
        start(&processes.version).unwrap_or_default(),
        start(&processes.context_start),
    ));
    if let Some(context) = &processes.mcp_context {
        let work = format!("`get_context` with a query, {records} records, p95");
        rows.push(within(work, 10_000, context.p95()));
    }
    rows.push(row(
        format!("durable write, {notes} notes, p50"),
        1.5,
        "its raw steps",
        raw.write_p50(),
        Some(ours.write.p50()),
    ));
    rows.push(row(
        format!("search, {notes} notes, p50"),
        1.5,
        "raw",
        raw.query.p50(),
        Some(ours.search.p50()),
    ));
    rows.push(row(
        format!("search, {notes} notes, p95"),
        1.5,
        "raw",
        raw.query.p95(),
        Some(ours.search.p95()),
    ));
    for (end, raw, words) in
        [("p50", raw.query.p50(), ours.words.p50()), ("p95", raw.query.p95(), ours.words.p95())]
    {
        let work = format!("search by words alone, {notes} notes, {end}");
        rows.push(row(work, 1.5, "raw", raw, Some(words)));
    }
    rows.push(within(format!("search, {notes} notes, p50"), 1_500, ours.search.p50()));
    rows.push(within(format!("search, {notes} notes, p95"), 6_000, ours.search.p95()));
    rows.push(within("the vector of a question, p95".into(), 200, ours.query_vector.p95()));
    rows.push(row(
        format!("first index, {notes} notes, with vectors"),
        1.5,
        "without",
        ours.index_without_vectors(),
        Some(ours.first_index.p50()),
    ));
    rows.push(row(
        format!("first index without vectors, {notes} notes"),
        2.5,
        "an FTS5 build",
        raw.build.p50(),
        Some(ours.index_without_vectors()),
    ));
    rows.push(row(
        format!("first index, {notes} notes"),
        3.5,
        "an FTS5 build",
        raw.build.p50(),
        Some(ours.first_index.p50()),
    ));
    rows.push(row(
        format!("re-sync, {notes} notes, p50"),
        3.0,
        "walk + stat",
        raw.walk.p50(),
        Some(ours.resync.p50()),
    ));
    rows.push(BudgetRow {
        work: format!("resident memory, {notes} notes"),
        limit: BudgetLimit::Bytes(60 << 20),
        of: "",
        raw: None,
        ours: ours.resident.map(MeasuredValue::Bytes),
    });
    rows.extend(growth_budgets(report, at));
    rows
}

/// The budgets of what many writes leave behind.
fn volume_budgets(volume: &VolumeResults) -> [BudgetRow; 4] {
    let notes = number(volume.notes);
    let row = |work: String, most: u64, ours: Option<u64>| BudgetRow {
        work,
        limit: BudgetLimit::Bytes(most),
        of: "",
        raw: None,
        ours: ours.map(MeasuredValue::Bytes),
    };
    [
        row(
            "written for a small note, back to back".into(),
            40 << 10,
            Some(volume.written_per_note),
        ),
        row(format!("resident memory after {notes} writes"), 60 << 20, volume.resident),
        row(
            format!("log of {notes} first writes, 1.2 × the text"),
            volume.text / 5 * 6,
            Some(volume.log),
        ),
        row(
            format!("index of {notes} notes, 3 × the text + 400 bytes a passage"),
            3 * volume.text + 400 * volume.passages,
            Some(volume.index),
        ),
    ]
}

/// An absolute time budget, in microseconds.
fn within(work: String, most: u64, ours: Duration) -> BudgetRow {
    let limit = BudgetLimit::Within(Duration::from_micros(most));
    BudgetRow { work, limit, of: "", raw: None, ours: Some(MeasuredValue::Time(ours)) }
}

/// The budgets that compare our own numbers at two sizes.
fn growth_budgets(report: &BenchReport, at: &SizeResults) -> Vec<BudgetRow> {
    let (Some(smallest), Some(largest)) = (report.sizes.first(), report.sizes.last()) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    if smallest.notes < largest.notes {
        rows.push(BudgetRow {
            work: format!("durable write, {} notes, p50", number(largest.notes)),
            limit: BudgetLimit::Times(1.5),
            of: "ours in the smallest vault",
            raw: Some(smallest.ours.write.p50()),
            ours: Some(MeasuredValue::Time(largest.ours.write.p50())),
        });
    }
    if at.notes < largest.notes {
        rows.push(BudgetRow {
            work: format!("search, {} notes, p95", number(largest.notes)),
            limit: BudgetLimit::Times(4.0),
            of: "ours at a tenth",
            raw: Some(at.ours.search.p95()),
            ours: Some(MeasuredValue::Time(largest.ours.search.p95())),
        });
    }
    if let Some(at) = report.sizes.iter().find(|at| at.notes == LARGE_SIZE) {
        let notes = number(at.notes);
        rows.push(within(format!("search, {notes} notes, p50"), 6_000, at.ours.search.p50()));
        rows.push(within(format!("search, {notes} notes, p95"), 15_000, at.ours.search.p95()));
        rows.push(BudgetRow {
            work: format!("resident memory, {notes} notes"),
            limit: BudgetLimit::Bytes(250 << 20),
            of: "",
            raw: None,
            ours: at.ours.resident.map(MeasuredValue::Bytes),
        });
    }
    rows
}

fn growth(page: &mut String, sizes: &[SizeResults]) {
    page.push_str(
        "\n## Growth\n\nRaw first, then ours; p50 / p95 where there are two numbers.\n\n\
         | Notes | Bytes | Write | Search | By words | First index | Re-sync | Resident |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    page.extend(sizes.iter().map(growth_row));
}

/// Renders the measurements at one size as a row of the growth table.
pub(super) fn growth_row(at: &SizeResults) -> String {
    let SizeResults { notes, bytes: size, raw, ours } = at;
    format!(
        "| {} | {} | {}; {} | {}; {} | {} | {}; {} | {}; {} | {} |\n",
        number(*notes),
        bytes(*size),
        time(raw.write_p50()),
        p50_and_p95(&ours.write),
        p50_and_p95(&raw.query),
        p50_and_p95(&ours.search),
        p50_and_p95(&ours.words),
        time(raw.build.p50()),
        time(ours.first_index.p50()),
        time(raw.walk.p50()),
        time(ours.resync.p50()),
        ours.resident.map_or(NOT_MEASURED.into(), bytes),
    )
}

fn raw_limits(page: &mut String, report: &BenchReport) {
    page.push_str(
        "\n## Raw limits\n\np50 / p95.\n\n\
         | Notes | Append 1 KB + fdatasync | Write + rename | FTS5 insert | FTS5 query | Walk + stat |\n\
         |---|---|---|---|---|---|\n",
    );
    for SizeResults { notes, raw, .. } in &report.sizes {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} |",
            number(*notes),
            p50_and_p95(&raw.append),
            p50_and_p95(&raw.rename),
            p50_and_p95(&raw.insert),
            p50_and_p95(&raw.query),
            p50_and_p95(&raw.walk),
        );
    }
    let processes = &report.processes;
    let _ = writeln!(
        page,
        "\nStarting a process that opens SQLite and prints a line: {}. \
         A line of 1 KB to a child and back: {}.",
        p50_and_p95(&processes.bare_start),
        p50_and_p95(&processes.round_trip)
    );
    if let Some(writes) = &processes.mcp_write {
        let _ = writeln!(
            page,
            "\nDurable writes over MCP stdio in a small vault: {}, by a bare child that does the raw \
             steps {}; back to back, while the index update of the write before is still running: \
             {}.",
            p50_and_p95(&writes.ours),
            p50_and_p95(&writes.raw),
            p50_and_p95(&writes.burst)
        );
    }
}

fn verdict(ratio: f64, most: f64) -> &'static str {
    if ratio <= most { "met" } else { "**missed**" }
}

fn ratio(ours: Duration, raw: Duration) -> f64 {
    // A raw time of zero must not count as met.
    if raw.is_zero() { f64::INFINITY } else { ours.as_secs_f64() / raw.as_secs_f64() }
}

fn p50_and_p95(samples: &TimeSamples) -> String {
    format!("{} / {}", time(samples.p50()), time(samples.p95()))
}

/// Formats a duration with three digits and a unit.
pub(super) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 0.001 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    match value {
        v if v >= 100.0 => format!("{v:.0} {unit}"),
        v if v >= 10.0 => format!("{v:.1} {unit}"),
        v => format!("{v:.2} {unit}"),
    }
}

fn bytes(count: u64) -> String {
    if count < 1 << 20 {
        return format!("{} KB", count >> 10);
    }
    let megabytes = count as f64 / f64::from(1 << 20);
    if megabytes >= 10.0 { format!("{megabytes:.0} MB") } else { format!("{megabytes:.1} MB") }
}

/// Formats a number with commas between thousands.
pub(super) fn number(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(number(100), "100");
        assert_eq!(number(100_000), "100,000");
        assert_eq!(time(Duration::from_micros(1_234)), "1.23 ms");
        assert_eq!(time(Duration::from_nanos(45_600)), "45.6 µs");
        assert_eq!(time(Duration::from_secs(123)), "123 s");
        assert_eq!(bytes(24 << 10), "24 KB");
        assert_eq!(bytes(3 << 20), "3.0 MB");
        assert_eq!(bytes(40 << 20), "40 MB");
    }

    #[test]
    fn budgets_are_judged() {
        let check = |limit, raw: Option<u64>, ours: Option<MeasuredValue>, expected: &str| {
            let raw = raw.map(Duration::from_millis);
            let row = BudgetRow { work: "w".into(), limit, of: "raw", raw, ours }.render();
            assert!(row.contains(expected), "{row}");
        };
        let ms = |n| Some(MeasuredValue::Time(Duration::from_millis(n)));
        check(BudgetLimit::Times(1.5), Some(10), ms(15), "| 1.50 | met |");
        check(BudgetLimit::Times(1.5), Some(10), ms(16), "| 1.60 | **missed** |");
        check(BudgetLimit::Times(1.5), Some(0), ms(1), "**missed**");
        check(BudgetLimit::Times(1.5), Some(10), None, "| – | – | not measured |");
        check(BudgetLimit::Times(4.0), None, ms(1), "not measured");
        check(
            BudgetLimit::Within(Duration::from_millis(5)),
            None,
            ms(4),
            "| ≤ 5.00 ms | – | 4.00 ms | 0.80 | met |",
        );
        check(BudgetLimit::Within(Duration::from_millis(5)), None, ms(6), "| 1.20 | **missed** |");
        check(
            BudgetLimit::Bytes(2 << 20),
            None,
            Some(MeasuredValue::Bytes(1 << 20)),
            "| 0.50 | met |",
        );
    }

    #[test]
    fn missing_measurements_are_marked() {
        let report = BenchReport {
            machine: vec![("Cores", "2".into())],
            command: "cargo xtask bench".into(),
            date: "2026-01-01".into(),
            processes: ProcessSamples {
                bare_start: TimeSamples::default(),
                round_trip: TimeSamples::default(),
                version: None,
                status: None,
                mcp_start: None,
                mcp_write: None,
                context_start: None,
                mcp_context: None,
                volume: None,
                binary: 1 << 20,
            },
            sizes: [100, 10_000, 100_000]
                .map(|notes| SizeResults { notes, bytes: 1, ..SizeResults::default() })
                .into(),
        };
        let page = render(&report);
        assert_eq!(page.matches("| not measured |").count(), 7, "{page}");
        assert!(page.contains("| 100,000 |") && !page.lines().any(|line| line.ends_with(' ')));
    }
}
