//! `cargo xtask bench tools`: every tool of the server over real stdio, back to back and with
//! pauses, in vaults of several sizes. The run fails if a tool has no case.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::mcp::BenchServer;
use super::options::{self, BenchEffort};
use super::report::{number, time};
use super::restarts::{self, RestartSamples};
use super::samples::TimeSamples;
use super::tool_cases::{CASES, CaseInput, CaseRepeat, ToolCase};
use super::{PAGE, ScratchFolder, executable, machine, rerun_optimised, target_folder};
use crate::{Result, workspace};

/// Heading of the section in the page. The section ends the page.
const HEADING: &str = "## Every tool";
/// Pause between two calls that are not back to back.
const PAUSE: Duration = Duration::from_millis(20);
/// A server that has used no resources for this time has done all work of the calls before.
const QUIET: Duration = Duration::from_millis(120);
/// Pause between two looks at the resources of the server, and the longest wait for it.
const LOOK: Duration = Duration::from_millis(20);
const MAX_SETTLE: Duration = Duration::from_secs(20);
/// Number of measured calls of an expensive tool.
const RARE_CALLS: usize = 3;
/// First number of the notes that are written by calls.
const FIRST_SERIAL: usize = 1_000_000;
/// Sizes of the vaults unless others are given. One of 100,000 notes takes half an hour more.
const SIZES: &str = "--sizes=100,1000,10000";

/// Maximum CPU time in milliseconds of a reading call, up to 10,000 notes and in larger vaults.
const MAX_READING_MS: (f64, f64) = (10.0, 25.0);
/// Maximum CPU time in milliseconds of `search_notes` up to 10,000 notes.
const MAX_SEARCH_MS: f64 = 2.5;
/// Maximum growth of the CPU time of a writing call from the smallest vault to the largest.
const MAX_GROWTH: f64 = 1.5;
/// Maximum kilobytes that a writing call writes, back to back and with pauses.
const MAX_WRITTEN_KB: (f64, f64) = (40.0, 120.0);

/// Reasons for missed budgets, behind the tables.
const EXPLANATIONS: &str = "\nThe writes of a burst are indexed together, up to 32 in one transaction of the index, which writes some \
twenty to\nforty pages. A query in between that one of them may concern indexes them at once. Links and histories of other \
notes are not\nconcerned. `remember` and `forget` compare the texts of pending writes themselves.\n";

/// A schema, for the tools that compare notes with one.
const SCHEMA_NOTE: &str = "---\ntype: schema\nentity: person\nschema:\n  fact: string\n---\n";

/// Measurements in one vault.
struct VaultSamples {
    notes: usize,
    tools: Vec<ToolSamples>,
    restarts: RestartSamples,
}

/// Measurements of one tool in one vault.
struct ToolSamples {
    tool: String,
    is_reading: bool,
    burst: CallSamples,
    paused: CallSamples,
}

/// Measurements of several calls of one tool.
#[derive(Default)]
struct CallSamples {
    times: TimeSamples,
    calls: usize,
    spent: ProcessUse,
}

/// Resources that a process has used so far.
#[derive(Clone, Copy, PartialEq, Default)]
pub(super) struct ProcessUse {
    pub(super) cpu_ms: f64,
    pub(super) written_bytes: u64,
}

/// Measures all tools and writes the section.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let (only, mut arguments) = split_only(arguments);
    let is_option = |name: &str| arguments.iter().any(|argument| argument.starts_with(name));
    if !is_option("--sizes") && !is_option("--quick") {
        arguments.push(SIZES.to_owned());
    }
    let options = options::parse(&arguments)?;
    if cfg!(debug_assertions) {
        let only = only.iter().map(|name| format!("--only={name}"));
        return rerun_optimised(
            "tools",
            &arguments.iter().cloned().chain(only).collect::<Vec<_>>(),
        );
    }
    let root = workspace::root()?;
    let binary = binary(&root)?;
    let scratch = ScratchFolder::new(target_folder(&root).join("bench-tools"))?;
    let mut sizes = Vec::new();
    let load_before = load();
    for &notes in &options.sizes {
        let begun = Instant::now();
        println!("bench tools: {notes} notes");
        let folder = scratch.0.join(notes.to_string());
        let only = only.as_deref();
        sizes.push(measure_vault(&binary, &folder, notes, options.effort, only)?);
        std::fs::remove_dir_all(&folder)?;
        println!("bench tools: {notes} notes took {} s", begun.elapsed().as_secs());
    }
    let command = options.command().replacen("bench", "bench tools", 1);
    let today = machine::today()?;
    let load = format!("load average {load_before} before and {} after the run", load());
    let section = render(&sizes, &format!("Measured on {today} by `{command}`, {load}."));
    if options.effort == BenchEffort::Quick || only.is_some() {
        println!("\n{section}");
        return Ok(());
    }
    let page = root.join(PAGE);
    let text = std::fs::read_to_string(&page)?;
    let before = text.split(&format!("\n{HEADING}\n")).next().unwrap_or_default();
    std::fs::write(&page, format!("{}\n\n{section}", before.trim_end()))?;
    println!("bench tools: wrote {PAGE}");
    Ok(())
}

/// Returns the load average of the last minute: times mean little on a busy machine.
pub(super) fn load() -> String {
    let loads = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    loads.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned()
}

/// Returns the section of an existing page, for a page that is written again.
pub(super) fn section_of(page: &str) -> Option<&str> {
    page.find(&format!("\n{HEADING}\n")).and_then(|at| page.get(at..))
}

/// Splits off `--only=TOOL`, which measures a single tool.
fn split_only(arguments: &[String]) -> (Option<String>, Vec<String>) {
    let (only, rest): (Vec<_>, Vec<_>) =
        arguments.iter().cloned().partition(|argument| argument.starts_with("--only="));
    let only = only.last().and_then(|argument| argument.strip_prefix("--only="));
    (only.map(str::to_owned), rest)
}

/// Returns the program to measure: `MEMORANDA_BENCH_BINARY`, or a new release build.
fn binary(root: &Path) -> Result<PathBuf> {
    if let Some(binary) = std::env::var_os("MEMORANDA_BENCH_BINARY") {
        return Ok(binary.into());
    }
    let build = ["build", "--release", "--quiet", "--package", "memoranda"];
    workspace::status(workspace::cargo(root).args(build))?;
    Ok(target_folder(root).join("release").join(executable("memoranda")))
}

fn measure_vault(
    binary: &Path,
    folder: &Path,
    notes: usize,
    effort: BenchEffort,
    only: Option<&str>,
) -> Result<VaultSamples> {
    let home = folder.join("home");
    xtask::vault::write(&home.join("main"), notes)?;
    std::fs::create_dir_all(home.join("main/schemas"))?;
    std::fs::write(home.join("main/schemas/person.md"), SCHEMA_NOTE)?;
    let program = || {
        let mut command = Command::new(binary);
        command.env("MEMORANDA_HOME", &home).env("CLAUDE_PROJECT_DIR", folder).current_dir(folder);
        // The benchmark must not read or write the person's own files.
        for (variable, folder_name) in [
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
        ] {
            command.env(variable, folder.join(folder_name));
        }
        command
    };
    workspace::output(program().arg("init"))?;
    workspace::output(program().arg("status"))?;
    let restarts = restarts::measure(effort, &home.join("main"), notes, program, only)?;
    print!("{}", restarts::render(&[(notes, &restarts)]));
    let mut command = program();
    command.env("MEMORANDA_TOOLSETS", "all");
    let mut server = BenchServer::start_initialized(command)?;
    let tools = server.list_tools()?;
    check_cases(&tools)?;
    let mut run = ToolRun { server: &mut server, notes, serial: FIRST_SERIAL, effort };
    let mut measured = Vec::new();
    for (tool, is_reading) in &tools {
        let Some(case) = CASES.iter().find(|case| case.tool == tool) else { continue };
        if only.is_none_or(|only| only == tool) {
            measured.push(run.measure(case, *is_reading)?);
            println!("{}", measured.last().map(progress_line).unwrap_or_default());
        }
    }
    server.end()?;
    Ok(VaultSamples { notes, tools: measured, restarts })
}

/// Fails if a tool has no case, or a case no tool.
fn check_cases(tools: &[(String, bool)]) -> Result<()> {
    let is_listed = |case: &&ToolCase| tools.iter().any(|(tool, _)| tool == case.tool);
    let is_known = |tool: &str| CASES.iter().any(|case| case.tool == tool);
    let missing = tools.iter().map(|(tool, _)| tool.as_str()).filter(|tool| !is_known(tool));
    let surplus = CASES.iter().filter(|case| !is_listed(case)).map(|case| case.tool);
    let wrong: Vec<_> = missing.chain(surplus).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("tools without a case, or cases without a tool: {}", wrong.join(", ")).into())
}

struct ToolRun<'a> {
    server: &'a mut BenchServer,
    notes: usize,
    /// Number of the next call.
    serial: usize,
    effort: BenchEffort,
}

impl ToolRun<'_> {
    fn measure(&mut self, case: &ToolCase, is_reading: bool) -> Result<ToolSamples> {
        let (burst, paused) = match (case.repeat, self.effort) {
            (CaseRepeat::Rarely, _) => (RARE_CALLS, RARE_CALLS),
            (CaseRepeat::Often, BenchEffort::Full) => (100, 30),
            (CaseRepeat::Often, BenchEffort::Quick) => (20, 5),
        };
        // The first call may fill caches or create a folder.
        self.calls(case, 1, Duration::ZERO)?;
        Ok(ToolSamples {
            tool: case.tool.to_owned(),
            is_reading,
            burst: self.calls(case, burst, Duration::ZERO)?,
            paused: self.calls(case, paused, PAUSE)?,
        })
    }

    fn calls(&mut self, case: &ToolCase, calls: usize, pause: Duration) -> Result<CallSamples> {
        let mut arguments = Vec::with_capacity(calls);
        for _ in 0..calls {
            let input =
                CaseInput { serial: self.serial, notes: self.notes, prepared: &Value::Null };
            let prepared = match case.prepare.map(|prepare| prepare(&input)) {
                Some((tool, prepared)) => self.server.call(tool, &prepared)?,
                None => Value::Null,
            };
            arguments.push((case.arguments)(&CaseInput { prepared: &prepared, ..input }));
            self.serial += 1;
        }
        let before = self.settle();
        let mut samples = CallSamples { calls, ..CallSamples::default() };
        for arguments in &arguments {
            std::thread::sleep(pause);
            samples.times.time(|| self.server.call(case.tool, arguments))?;
        }
        // The work after the last answer counts, too.
        samples.spent = self.settle().since(before);
        Ok(samples)
    }
}

impl ToolRun<'_> {
    /// Waits until the server has done the work of the calls before, and returns what it has used.
    fn settle(&self) -> ProcessUse {
        let begun = Instant::now();
        let (mut used, mut since) = (ProcessUse::of(self.server.id()), begun);
        while since.elapsed() < QUIET && begun.elapsed() < MAX_SETTLE {
            std::thread::sleep(LOOK);
            let now = ProcessUse::of(self.server.id());
            if now != used {
                (used, since) = (now, Instant::now());
            }
        }
        used
    }
}

impl ProcessUse {
    /// Reads what a process has used; zero on systems that do not report it.
    pub(super) fn of(process: u32) -> Self {
        const TICKS_PER_SECOND: f64 = 100.0;
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}"));
        let (stat, io) = (read("stat").unwrap_or_default(), read("io").unwrap_or_default());
        // The name of the program, in parentheses, may contain blanks.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: f64 =
            fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
        let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
        Self {
            cpu_ms: ticks * 1000.0 / TICKS_PER_SECOND,
            written_bytes: written.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0),
        }
    }

    pub(super) fn since(self, before: Self) -> Self {
        Self {
            cpu_ms: self.cpu_ms - before.cpu_ms,
            written_bytes: self.written_bytes.saturating_sub(before.written_bytes),
        }
    }
}

impl CallSamples {
    fn cpu_ms(&self) -> f64 {
        self.spent.cpu_ms / self.calls.max(1) as f64
    }

    fn written_kb(&self) -> f64 {
        self.spent.written_bytes as f64 / 1024.0 / self.calls.max(1) as f64
    }

    fn p50_and_p95(&self) -> String {
        format!("{} / {}", time(self.times.p50()), time(self.times.p95()))
    }
}

fn progress_line(samples: &ToolSamples) -> String {
    let ToolSamples { tool, burst, paused, .. } = samples;
    format!(
        "{tool:24} {:22} cpu {:.2} ms, {:.0} KB | paused {:22} cpu {:.2} ms, {:.0} KB",
        burst.p50_and_p95(),
        burst.cpu_ms(),
        burst.written_kb(),
        paused.p50_and_p95(),
        paused.cpu_ms(),
        paused.written_kb(),
    )
}

/// Renders the section.
fn render(sizes: &[VaultSamples], measured: &str) -> String {
    let mut page = format!(
        "{HEADING}\n\n{measured}\n\
         One client over stdio, toolset `all`, in vaults of linked notes with tags and facts. Times are p50 / p95\n\
         back to back. CPU is the processor time of the server per call, with the work after its answer; unlike\n\
         times it hardly depends on the load. Written are `write_bytes` of `/proc/PID/io` per call, back to back\n\
         and with pauses of {} ms. Growth is the CPU in the largest vault divided by that in the smallest.\n\
         Budgets, by CPU: reading {} ms up to 10,000 notes and {} ms above, `search_notes` {MAX_SEARCH_MS} ms; writing\n\
         grows {MAX_GROWTH} times and writes {} KB back to back, {} KB with pauses.\n",
        PAUSE.as_millis(),
        MAX_READING_MS.0,
        MAX_READING_MS.1,
        MAX_WRITTEN_KB.0,
        MAX_WRITTEN_KB.1,
    );
    let (Some(smallest), Some(largest)) = (sizes.first(), sizes.last()) else { return page };
    for is_reading in [false, true] {
        let kind = if is_reading { "Reading" } else { "Writing" };
        let _ = write!(page, "\n### {kind}\n\n| Tool |");
        for size in sizes {
            let _ = write!(page, " {} notes | CPU |", number(size.notes));
        }
        page.push_str(" Written | Growth | Missed |\n|---|");
        page.push_str(&"---|".repeat(2 * sizes.len() + 3));
        page.push('\n');
        let of_kind = |(_, samples): &(usize, &ToolSamples)| samples.is_reading == is_reading;
        for (n, last) in largest.tools.iter().enumerate().filter(of_kind) {
            let _ = write!(page, "| `{}` |", last.tool);
            for size in sizes {
                let samples = size.tools.get(n).map(|samples| &samples.burst);
                let times = samples.map(CallSamples::p50_and_p95).unwrap_or_default();
                let cpu = samples.map(CallSamples::cpu_ms).unwrap_or_default();
                let _ = write!(page, " {times} | {cpu:.1} ms |");
            }
            let growth = smallest.tools.get(n).map_or(1.0, |first| last.growth(first));
            let _ = writeln!(
                page,
                " {:.0} / {:.0} KB | {growth:.1} | {} |",
                last.burst.written_kb(),
                last.paused.written_kb(),
                last.missed_budgets(largest.notes, growth).join(", "),
            );
        }
    }
    page.push_str(EXPLANATIONS);
    let restarts: Vec<_> = sizes.iter().map(|size| (size.notes, &size.restarts)).collect();
    page.push_str(&restarts::render(&restarts));
    page
}

impl ToolSamples {
    /// Returns the CPU time back to back divided by that in a smaller vault. Less than a tenth of a
    /// millisecond is below the resolution of the system's clock.
    fn growth(&self, smaller: &Self) -> f64 {
        self.burst.cpu_ms() / smaller.burst.cpu_ms().max(0.1)
    }

    /// Returns the budgets that the tool misses in a vault.
    fn missed_budgets(&self, notes: usize, growth: f64) -> Vec<&'static str> {
        let is_large = notes > 10_000;
        let most = match self.tool.as_str() {
            "search_notes" if !is_large => MAX_SEARCH_MS,
            _ if is_large => MAX_READING_MS.1,
            _ => MAX_READING_MS.0,
        };
        let written = (self.burst.written_kb(), self.paused.written_kb());
        let is_over = written.0 > MAX_WRITTEN_KB.0 || written.1 > MAX_WRITTEN_KB.1;
        let missed = [
            ("CPU", self.is_reading && self.burst.cpu_ms() > most),
            ("growth", !self.is_reading && growth > MAX_GROWTH),
            ("bytes", !self.is_reading && is_over),
        ];
        missed.into_iter().filter(|(_, is_missed)| *is_missed).map(|(budget, _)| budget).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_case() {
        let folder = workspace::root().unwrap().join("crates/memoranda-tools/snapshots");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let tools: Vec<_> = names
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), false))
            .collect();
        assert!(!tools.is_empty());
        for (tool, _) in &tools {
            assert!(CASES.iter().any(|case| case.tool == tool), "{tool}");
        }
        let listed = |case: &ToolCase| (case.tool.to_owned(), false);
        let all: Vec<_> = CASES.iter().map(listed).collect();
        check_cases(&all).unwrap();
        assert!(check_cases(&all[1..]).is_err());
        assert!(check_cases(&[all, vec![("new_tool".into(), true)]].concat()).is_err());
    }

    #[test]
    fn missed_budgets_are_named() {
        let samples = |tool: &str, is_reading, cpu_ms, written_kb: u64| {
            let spent = ProcessUse { cpu_ms, written_bytes: written_kb * 1024 };
            let burst = CallSamples { calls: 1, spent, ..CallSamples::default() };
            let paused = CallSamples { calls: 1, ..CallSamples::default() };
            ToolSamples { tool: tool.to_owned(), is_reading, burst, paused }
        };
        let check = |samples: &ToolSamples, notes, expected: &[&str]| {
            let growth = samples.growth(&samples_at_100(samples));
            assert_eq!(samples.missed_budgets(notes, growth), expected, "{}", samples.tool);
        };
        check(&samples("recall", true, 9.0, 0), 10_000, &[]);
        check(&samples("recall", true, 11.0, 0), 10_000, &["CPU"]);
        check(&samples("recall", true, 11.0, 0), 100_000, &[]);
        check(&samples("search_notes", true, 3.0, 0), 10_000, &["CPU"]);
        check(&samples("write_note", false, 1.4, 39), 10_000, &[]);
        check(&samples("write_note", false, 1.6, 41), 10_000, &["growth", "bytes"]);
    }

    /// Returns the samples of the same tool in a small vault, where a call takes a millisecond.
    fn samples_at_100(samples: &ToolSamples) -> ToolSamples {
        let spent = ProcessUse { cpu_ms: 1.0, written_bytes: 0 };
        let burst = CallSamples { calls: 1, spent, ..CallSamples::default() };
        let paused = CallSamples::default();
        ToolSamples { tool: samples.tool.clone(), is_reading: samples.is_reading, burst, paused }
    }

    #[test]
    fn the_section_is_found_again() {
        let section = render(&[], "Measured.");
        let page = format!("# Benchmarks\n\ntext\n\n{section}");
        assert_eq!(section_of(&page).map(str::trim_start), Some(section.as_str()));
        assert_eq!(section_of("# Benchmarks\n"), None);
    }
}
