//! Figures of a team server in the text format of Prometheus. They name no space and no account.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper limits of the histogram of durations, in milliseconds.
const BUCKETS_MS: [u64; 9] = [5, 10, 25, 50, 100, 250, 1_000, 5_000, 30_000];

/// Counters since the start of the server.
#[derive(Default)]
pub(crate) struct TeamMetrics {
    /// Requests by the first digit of their status: 2xx to 5xx.
    requests: [AtomicU64; 4],
    durations: [AtomicU64; BUCKETS_MS.len()],
    duration_sum_us: AtomicU64,
    duration_count: AtomicU64,
    tool_calls: AtomicU64,
    tool_errors: AtomicU64,
    stale_answers: AtomicU64,
    early_answers: AtomicU64,
    directory_failures: AtomicU64,
    proposals: AtomicU64,
    rate_limited: AtomicU64,
}

impl TeamMetrics {
    pub(crate) fn count_request(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).saturating_sub(2).min(3);
        if let Some(counter) = self.requests.get(class) {
            add(counter);
        }
        let ms = took.as_millis() as u64;
        for (limit, counter) in BUCKETS_MS.iter().zip(&self.durations) {
            if ms <= *limit {
                add(counter);
            }
        }
        self.duration_sum_us.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
        add(&self.duration_count);
    }

    pub(crate) fn count_tool_call(&self, is_error: bool) {
        add(&self.tool_calls);
        if is_error {
            add(&self.tool_errors);
        }
    }

    pub(crate) fn count_stale_answer(&self) {
        add(&self.stale_answers);
    }

    pub(crate) fn count_early_answer(&self) {
        add(&self.early_answers);
    }

    pub(crate) fn count_directory_failure(&self) {
        add(&self.directory_failures);
    }

    pub(crate) fn count_proposal(&self) {
        add(&self.proposals);
    }

    /// Renders all figures.
    pub(crate) fn render(&self, open_spaces: usize, is_ready: bool) -> String {
        let mut text = String::new();
        head(&mut text, "memoranda_requests_total", "counter", "Requests by class of status.");
        for (class, counter) in self.requests.iter().enumerate() {
            let class = class + 2;
            line(
                &mut text,
                &format!("memoranda_requests_total{{status=\"{class}xx\"}}"),
                get(counter),
            );
        }
        let name = "memoranda_request_seconds";
        head(&mut text, name, "histogram", "Time from a request to its answer.");
        for (limit, counter) in BUCKETS_MS.iter().zip(&self.durations) {
            let seconds = *limit as f64 / 1_000.0;
            line(&mut text, &format!("{name}_bucket{{le=\"{seconds}\"}}"), get(counter));
        }
        let count = get(&self.duration_count);
        line(&mut text, &format!("{name}_bucket{{le=\"+Inf\"}}"), count);
        let sum = get(&self.duration_sum_us) as f64 / 1_000_000.0;
        writeln!(text, "{name}_sum {sum}").ok();
        line(&mut text, &format!("{name}_count"), count);
        for (name, help, counter) in [
            ("memoranda_tool_calls_total", "Calls of tools.", &self.tool_calls),
            ("memoranda_tool_errors_total", "Calls of tools that failed.", &self.tool_errors),
            (
                "memoranda_stale_answers_total",
                "Answers as of an earlier time, because the database was away.",
                &self.stale_answers,
            ),
            (
                "memoranda_early_answers_total",
                "Answers for spaces that were not whole on this server yet.",
                &self.early_answers,
            ),
            (
                "memoranda_directory_failures_total",
                "Requests whose token could not be looked up.",
                &self.directory_failures,
            ),
            ("memoranda_proposals_total", "Calls that wait for a decision.", &self.proposals),
            (
                "memoranda_rate_limited_total",
                "Requests beyond the rate of their token.",
                &self.rate_limited,
            ),
        ] {
            head(&mut text, name, "counter", help);
            line(&mut text, name, get(counter));
        }
        head(&mut text, "memoranda_open_spaces", "gauge", "Spaces that this server has open.");
        line(&mut text, "memoranda_open_spaces", open_spaces as u64);
        head(&mut text, "memoranda_ready", "gauge", "1 if the server takes requests.");
        line(&mut text, "memoranda_ready", u64::from(is_ready));
        text
    }

    pub(crate) fn count_rate_limited(&self) {
        add(&self.rate_limited);
    }
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").ok();
}

fn line(text: &mut String, name: &str, value: u64) {
    writeln!(text, "{name} {value}").ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_lines_of_a_name_and_a_number() {
        let metrics = TeamMetrics::default();
        metrics.count_request(200, Duration::from_millis(7));
        metrics.count_request(503, Duration::from_secs(60));
        metrics.count_tool_call(true);
        let text = metrics.render(3, true);
        for expected in [
            "memoranda_requests_total{status=\"2xx\"} 1\n",
            "memoranda_requests_total{status=\"5xx\"} 1\n",
            "memoranda_request_seconds_bucket{le=\"0.005\"} 0\n",
            "memoranda_request_seconds_bucket{le=\"0.01\"} 1\n",
            "memoranda_request_seconds_bucket{le=\"30\"} 1\n",
            "memoranda_request_seconds_bucket{le=\"+Inf\"} 2\n",
            "memoranda_tool_errors_total 1\n",
            "memoranda_open_spaces 3\n",
            "memoranda_ready 1\n",
        ] {
            assert!(text.contains(expected), "{expected} in\n{text}");
        }
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (_, number) = line.rsplit_once(' ').unwrap();
            assert!(number.parse::<f64>().is_ok(), "{line}");
        }
    }
}
