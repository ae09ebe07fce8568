//! Command-line options of the benchmark.

use crate::Result;

const SIZES: &[usize] = &[100, 1_000, 10_000, 100_000];
const QUICK_SIZES: &[usize] = &[100, 1_000];

/// Number of repetitions, by purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BenchEffort {
    /// Enough repetitions for published results.
    Full,
    /// Enough repetitions to see that everything runs.
    Quick,
}

impl BenchEffort {
    /// Repetitions of a short piece of work.
    pub(super) fn repetitions(self) -> usize {
        match self {
            Self::Full => 200,
            Self::Quick => 40,
        }
    }

    /// Repetitions of the whole query mix.
    pub(super) fn rounds(self) -> usize {
        match self {
            Self::Full => 7,
            Self::Quick => 2,
        }
    }
}

/// The parsed options.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct BenchOptions {
    /// Numbers of notes, in ascending order.
    pub(super) sizes: Vec<usize>,
    pub(super) effort: BenchEffort,
}

impl BenchOptions {
    /// Returns the command line with the same options.
    pub(super) fn command(&self) -> String {
        let sizes: Vec<_> = self.sizes.iter().map(usize::to_string).collect();
        let quick = match self.effort {
            BenchEffort::Full => "",
            BenchEffort::Quick => " --quick",
        };
        format!("cargo xtask bench{quick} --sizes {}", sizes.join(","))
    }
}

pub(super) fn parse(arguments: &[String]) -> Result<BenchOptions> {
    let mut sizes = None;
    let mut effort = BenchEffort::Full;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.split_once('=').unwrap_or((argument, "")) {
            ("--quick", "") => effort = BenchEffort::Quick,
            ("--sizes", "") => sizes = Some(numbers(arguments.next().map_or("", String::as_str))?),
            ("--sizes", list) => sizes = Some(numbers(list)?),
            _ => return Err(format!("unknown argument `{argument}`").into()),
        }
    }
    let default = match effort {
        BenchEffort::Full => SIZES,
        BenchEffort::Quick => QUICK_SIZES,
    };
    Ok(BenchOptions { sizes: sizes.unwrap_or_else(|| default.to_vec()), effort })
}

fn numbers(list: &str) -> Result<Vec<usize>> {
    let mut sizes = Vec::new();
    for part in list.split(',') {
        match part.trim().replace('_', "").parse() {
            Ok(0) | Err(_) => {
                return Err(format!("`--sizes` takes numbers of notes, not `{part}`").into());
            }
            Ok(size) => sizes.push(size),
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<BenchOptions> {
        parse(&arguments.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_read() {
        let check = |arguments: &[&str], sizes: &[usize], effort| {
            let expected = BenchOptions { sizes: sizes.to_vec(), effort };
            assert_eq!(parsed(arguments).unwrap(), expected, "{arguments:?}");
        };
        check(&[], SIZES, BenchEffort::Full);
        check(&["--quick"], QUICK_SIZES, BenchEffort::Quick);
        check(&["--sizes", "1_000,100"], &[100, 1_000], BenchEffort::Full);
        check(&["--sizes=50", "--quick"], &[50], BenchEffort::Quick);
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        for arguments in [&["--sizes"][..], &["--sizes", "0"], &["--sizes", "many"], &["--fast"]] {
            assert!(parsed(arguments).is_err(), "{arguments:?}");
        }
    }
}
