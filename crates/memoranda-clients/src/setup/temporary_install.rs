//! Recognises a program that a package runner unpacked for one call, such as `npx`.

/// A package runner that deletes what it unpacked.
#[derive(Debug, PartialEq, Eq)]
pub struct PackageRunner {
    /// The command that started the program.
    pub name: &'static str,
    /// The command that installs the program to stay.
    pub install: &'static str,
    /// Folders in the path of the program, one inside the other.
    folders: &'static [&'static str],
}

const RUNNERS: &[PackageRunner] = &[
    PackageRunner { name: "npx", install: "npm install --global memoranda", folders: &["_npx"] },
    PackageRunner {
        name: "pnpm dlx",
        install: "pnpm add --global memoranda",
        folders: &["pnpm", "dlx"],
    },
    PackageRunner {
        name: "uvx",
        install: "uv tool install memoranda",
        folders: &["uv", "archive-v0"],
    },
    PackageRunner {
        name: "pipx run",
        install: "pipx install memoranda",
        folders: &[".cache", "pipx"],
    },
];

/// Finds the runner whose temporary folder contains a program. `None` if the program is installed.
pub fn find_runner(program: &str) -> Option<&'static PackageRunner> {
    let folders: Vec<&str> = program.split(['/', '\\']).collect();
    RUNNERS
        .iter()
        .find(|runner| folders.windows(runner.folders.len()).any(|window| window == runner.folders))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_folders_are_recognised() {
        let check = |program: &str, expected: Option<&str>| {
            assert_eq!(find_runner(program).map(|runner| runner.name), expected, "{program}");
        };
        let npx = "/h/.npm/_npx/a1b7/node_modules/@memoranda/linux-x64/bin/memoranda";
        check(npx, Some("npx"));
        check(
            r"C:\h\npm-cache\_npx\a1\node_modules\@memoranda\win32-x64\memoranda.exe",
            Some("npx"),
        );
        check("/h/.cache/uv/archive-v0/ky2u/bin/memoranda", Some("uvx"));
        check("/h/.cache/pipx/7ae7/bin/memoranda", Some("pipx run"));
        check("/h/.cache/pnpm/dlx/1/node_modules/.bin/memoranda", Some("pnpm dlx"));
        check("/h/.local/share/uv/tools/memoranda/bin/memoranda", None);
        check("/h/.local/share/pipx/venvs/memoranda/bin/memoranda", None);
        check("/usr/lib/node_modules/@memoranda/linux-x64/bin/memoranda", None);
    }
}
