//! Counts the reads of each client: a line is appended for each call, in one file per day and
//! device.
//!
//! This is neither history nor index: losing it only makes clients seem to read less. Files older
//! than [`KEPT_DAYS`] are removed when the counts are asked for.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::StoreInner;
use crate::clock;
use crate::error::{ErrorContext as _, Result};
use crate::files::{FilePrivacy, state_files};

/// Number of days for which reads are kept.
const KEPT_DAYS: i32 = 60;

impl StoreInner {
    fn reads_folder(&self) -> PathBuf {
        self.vault.state.join("reads")
    }

    /// Counts a call of a client that only reads. Failing to count it is no failure of the call.
    pub(crate) fn count_read(&self, client: &str) {
        let name: String = client.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let folder = self.reads_folder();
        let file = folder.join(format!("{}.{}", today(), self.vault.device));
        let append = || {
            state_files::create_dir(&folder, FilePrivacy::Private)?;
            state_files::open_append(&file)?.write_all(format!("{name}\n").as_bytes())
        };
        append().ok();
    }

    /// Returns the number of reads of each client in the last days, today included.
    pub(crate) fn read_counts(&self, days: u32) -> Result<BTreeMap<String, u64>> {
        let doing = || "read how often clients read".to_owned();
        let first = |days: i32| today().checked_sub(days.days()).unwrap_or(Date::MIN);
        let since = first(i32::try_from(days).unwrap_or(KEPT_DAYS).min(KEPT_DAYS) - 1);
        let kept_since = first(KEPT_DAYS);
        let folder = self.reads_folder();
        let mut counts = BTreeMap::new();
        for name in state_files::names(&folder).doing(doing)? {
            let day = name.split_once('.').and_then(|(day, _)| day.parse::<Date>().ok());
            let Some(day) = day else { continue };
            let file = folder.join(&name);
            if day < kept_since {
                state_files::remove(&file).ok();
            } else if day >= since {
                let bytes = state_files::read(&file).doing(doing)?.unwrap_or_default();
                for client in String::from_utf8_lossy(&bytes).lines() {
                    *counts.entry(client.to_owned()).or_default() += 1;
                }
            }
        }
        Ok(counts)
    }
}

fn today() -> Date {
    clock::now().to_zoned(TimeZone::UTC).date()
}
