//! The identity of one run of the machine, from power-on to power-off.
//!
//! Writes that were not forced to disk survive the death of a process, but not a power cut. Two
//! equal identities prove that no power cut lies between two moments.

use std::path::Path;

use crate::clock;
use crate::files::state_files;
use crate::vault::drive::Drive;
use crate::vault::platform;

/// The length of an encoded identity in hexadecimal digits.
pub(crate) const ENCODED_DIGITS: usize = 34;

/// Clocks drift by less than this between two readings of the time of power-on.
const CLOCK_DRIFT_SECONDS: i64 = 2;

/// Identifies one run of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BootId {
    /// A random identity that the kernel made at power-on.
    Random([u8; 16]),
    /// The time of power-on in seconds since 1970, by a clock that people can set.
    StartedAt(i64),
    /// The system reveals neither.
    Unknown,
}

/// The answer to the question if the machine was restarted between two moments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Restarted {
    /// The machine ran without interruption: every write of that time is visible.
    No,
    /// The machine was restarted: unforced writes may be lost.
    Yes,
    /// The system cannot tell.
    Unknown,
}

impl BootId {
    /// Returns the identity of the current run of this machine.
    pub(crate) fn current() -> Self {
        #[cfg(feature = "faults")]
        if let Some(pretended) = crate::faults::pretended_boot() {
            return pretended;
        }
        Self::of_kernel().or_else(Self::of_clock).unwrap_or(Self::Unknown)
    }

    fn of_kernel() -> Option<Self> {
        let found = state_files::read(Path::new("/proc/sys/kernel/random/boot_id")).ok().flatten();
        let text = found.or_else(platform::boot_identity)?;
        let mut id = [0; 16];
        id.copy_from_slice(&blake3::hash(&text).as_bytes()[..16]);
        Some(Self::Random(id))
    }

    fn of_clock() -> Option<Self> {
        clock::started_at().map(Self::StartedAt)
    }

    /// Compares the identity of an earlier moment with this one.
    pub(crate) fn restarted_since(self, earlier: Self) -> Restarted {
        match (self, earlier) {
            (Self::Random(now), Self::Random(then)) if now == then => Restarted::No,
            (Self::Random(_), Self::Random(_)) => Restarted::Yes,
            (Self::StartedAt(now), Self::StartedAt(then))
                if now.abs_diff(then) <= CLOCK_DRIFT_SECONDS as u64 =>
            {
                Restarted::No
            }
            // The time of power-on also changes when somebody sets the clock.
            _ => Restarted::Unknown,
        }
    }

    /// Writes the identity as hexadecimal digits.
    pub(crate) fn encode(self) -> String {
        let (tag, number) = match self {
            Self::Unknown => (0u8, 0),
            Self::Random(id) => (1, u128::from_be_bytes(id)),
            Self::StartedAt(seconds) => (2, seconds.cast_unsigned().into()),
        };
        format!("{tag:02x}{number:032x}")
    }

    /// Reads what [`BootId::encode`] wrote; anything else is `Unknown`.
    pub(crate) fn decode(text: &str) -> Self {
        let (Some(tag), Some(digits)) = (text.get(..2), text.get(2..)) else {
            return Self::Unknown;
        };
        match (tag, u128::from_str_radix(digits, 16)) {
            ("01", Ok(number)) => Self::Random(number.to_be_bytes()),
            ("02", Ok(number)) => Self::StartedAt((number as u64).cast_signed()),
            _ => Self::Unknown,
        }
    }
}

/// One run of the machine in which the drive of a vault was attached once: every write of that time
/// is visible, forced or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MachineRun {
    /// The run of the machine.
    pub(crate) boot: BootId,
    /// The attachment of the drive; `None` if the system has no number for it.
    pub(crate) attachment: Option<u64>,
}

impl MachineRun {
    /// Returns the current run of this machine, with the attachment of a folder's drive.
    pub(crate) fn current(folder: &Path) -> Self {
        Self { boot: BootId::current(), attachment: Drive::of(folder).attachment }
    }

    /// Compares an earlier run with this one. A drive that was pulled out and came back counts as a
    /// restart.
    pub(crate) fn restarted_since(self, earlier: Self) -> Restarted {
        let attachments = self.attachment.zip(earlier.attachment);
        match self.boot.restarted_since(earlier.boot) {
            Restarted::No | Restarted::Unknown if attachments.is_some_and(|(a, b)| a != b) => {
                Restarted::Yes
            }
            restarted => restarted,
        }
    }

    /// Writes the run as one word.
    pub(crate) fn encode(self) -> String {
        let attachment = self.attachment.map(|number| format!(".{number}"));
        self.boot.encode() + &attachment.unwrap_or_default()
    }

    /// Reads what [`MachineRun::encode`] wrote; `None` for any other word.
    pub(crate) fn decode(word: &str) -> Option<Self> {
        let (boot, attachment) = match word.split_once('.') {
            Some((boot, number)) => (boot, Some(number.parse().ok()?)),
            None => (word, None),
        };
        (boot.len() == ENCODED_DIGITS).then(|| Self { boot: BootId::decode(boot), attachment })
    }
}

/// Identifies this machine among those that write to a vault: a hash, because the original is to stay
/// on the machine. `None` where the system has no such identity.
pub(crate) fn machine_id() -> Option<String> {
    #[cfg(feature = "faults")]
    if let Some(pretended) = crate::faults::pretended_machine() {
        return Some(pretended);
    }
    let found = state_files::read(Path::new("/etc/machine-id")).ok().flatten();
    let text = found.or_else(platform::machine_identity)?;
    let hash = blake3::derive_key("memoranda 2026-11-17 machine of a device", text.trim_ascii());
    let short = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
    (!text.trim_ascii().is_empty()).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_survive_encoding() {
        for id in [BootId::Unknown, BootId::Random([7; 16]), BootId::StartedAt(-3)] {
            assert_eq!(id.encode().len(), ENCODED_DIGITS);
            assert_eq!(BootId::decode(&id.encode()), id);
        }
        assert_eq!(BootId::decode("no identity"), BootId::Unknown);
    }

    #[test]
    fn a_drive_that_was_away_counts_as_a_restart() {
        let run = |boot, attachment| MachineRun { boot, attachment };
        let (a, b) = (BootId::Random([1; 16]), BootId::Random([2; 16]));
        for (now, then, expected) in [
            (run(a, Some(7)), run(a, Some(7)), Restarted::No),
            (run(a, Some(8)), run(a, Some(7)), Restarted::Yes),
            (run(a, None), run(a, Some(7)), Restarted::No),
            (run(b, Some(7)), run(a, Some(7)), Restarted::Yes),
            (run(BootId::Unknown, Some(7)), run(BootId::Unknown, Some(7)), Restarted::Unknown),
            (run(BootId::Unknown, Some(8)), run(BootId::Unknown, Some(7)), Restarted::Yes),
        ] {
            assert_eq!(now.restarted_since(then), expected, "{now:?} {then:?}");
            assert_eq!(MachineRun::decode(&now.encode()), Some(now));
        }
        assert_eq!(MachineRun::decode("12345"), None);
        assert_eq!(MachineRun::decode(&format!("{}.x", a.encode())), None);
    }

    #[test]
    fn only_proof_counts() {
        let (a, b) = (BootId::Random([1; 16]), BootId::Random([2; 16]));
        let at = BootId::StartedAt;
        for (now, then, expected) in [
            (a, a, Restarted::No),
            (a, b, Restarted::Yes),
            (at(1_000), at(1_002), Restarted::No),
            (at(1_000), at(1_003), Restarted::Unknown),
            (a, at(1_000), Restarted::Unknown),
            (BootId::Unknown, BootId::Unknown, Restarted::Unknown),
        ] {
            assert_eq!(now.restarted_since(then), expected, "{now:?} {then:?}");
        }
    }
}
