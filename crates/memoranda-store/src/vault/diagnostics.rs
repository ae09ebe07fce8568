//! Lines that processes leave for each other: what went wrong lately, and the like.
//!
//! This is neither history nor index. Each register is two files: lines go to the first, and when
//! it is full it takes the place of the second. A line that is being appended at that moment goes
//! with its file, so nothing is lost between processes and nobody waits for a lock.

use std::io::Write as _;
use std::path::PathBuf;

use crate::StoreInner;
use crate::error::{ErrorContext as _, Result};
use crate::files::{FilePrivacy, state_files};

impl StoreInner {
    fn notices(&self, register: &str, age: &str) -> PathBuf {
        self.vault.state.join("notices").join(format!("{register}.{age}"))
    }

    /// Adds a line to a register that keeps at least so many of them.
    pub(crate) fn leave_notice(&self, register: &str, line: &str, keep: usize) -> Result<()> {
        let (new, old) = (self.notices(register, "new"), self.notices(register, "old"));
        let one_line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let left = state_files::create_dir(&self.vault.state.join("notices"), FilePrivacy::Private)
            .and_then(|()| {
                let full = state_files::read(&new)?.unwrap_or_default();
                if full.iter().filter(|&&byte| byte == b'\n').count() >= keep {
                    state_files::rename(&new, &old)?;
                }
                state_files::open_append(&new)?.write_all(format!("{one_line}\n").as_bytes())
            });
        left.doing(|| "leave a notice".into())
    }

    /// The lines of a register, the oldest first. One that a crash cut short is left out.
    pub(crate) fn read_notices(&self, register: &str) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for age in ["old", "new"] {
            let bytes =
                state_files::read(&self.notices(register, age)).doing(|| "read notices".into())?;
            let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            lines.extend(whole.map(|line| line.trim_end().to_owned()));
        }
        Ok(lines)
    }
}
