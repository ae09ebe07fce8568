//! The door to what only another program of the system knows: the identity of the machine and of its
//! current run on macOS and Windows.
//!
//! These systems give such values only through calls that are not safe Rust. The programs that print
//! them belong to the system and are named by their whole path.

#![allow(clippy::disallowed_methods)]
#![cfg_attr(not(any(target_os = "macos", windows)), allow(dead_code, reason = "for other systems"))]

#[cfg(any(target_os = "macos", windows))]
use std::process::{Command, Stdio};

/// Returns a text that is another one in each run of the machine; `None` if the system has none.
pub(crate) fn boot_identity() -> Option<Vec<u8>> {
    #[cfg(target_os = "macos")]
    return said("/usr/sbin/sysctl", &["-n", "kern.bootsessionuuid"])
        .and_then(|text| uuid_of(&text));
    // Windows counts its starts. It does not count a start from hibernation, in which no write is lost.
    #[cfg(windows)]
    return said(REG, &["query", STARTS, "/v", "BootId"])
        .and_then(|text| registry_value(&text, "BootId"));
    #[cfg(not(any(target_os = "macos", windows)))]
    None
}

/// Returns a text that is another one on each machine; `None` if the system has none.
pub(crate) fn machine_identity() -> Option<Vec<u8>> {
    #[cfg(target_os = "macos")]
    return said("/usr/sbin/ioreg", &["-rd1", "-c", "IOPlatformExpertDevice"])
        .and_then(|text| platform_uuid(&text));
    #[cfg(windows)]
    return said(REG, &["query", CRYPTOGRAPHY, "/v", "MachineGuid"])
        .and_then(|text| registry_value(&text, "MachineGuid"));
    #[cfg(not(any(target_os = "macos", windows)))]
    None
}

#[cfg(windows)]
const REG: &str = r"C:\Windows\System32\reg.exe";
#[cfg(windows)]
const STARTS: &str =
    r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters";
#[cfg(windows)]
const CRYPTOGRAPHY: &str = r"HKLM\SOFTWARE\Microsoft\Cryptography";

/// Runs a program of the system and returns its output.
#[cfg(any(target_os = "macos", windows))]
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    let output =
        command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads a line that is one UUID, as `sysctl` prints it.
fn uuid_of(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let is_uuid = text.len() == 36 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    is_uuid.then(|| text.to_ascii_uppercase().into_bytes())
}

/// Reads the UUID of the machine from what `ioreg` prints.
fn platform_uuid(text: &str) -> Option<Vec<u8>> {
    let line = text.lines().find(|line| line.contains("\"IOPlatformUUID\""))?;
    uuid_of(line.split('"').nth(3)?)
}

/// Reads a value from what `reg query` prints: the name, the type and the value in one line.
fn registry_value(text: &str, name: &str) -> Option<Vec<u8>> {
    let words_of = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    text.lines().map(words_of).find_map(|words| match &words[..] {
        [found, kind, value] if found == name && kind.starts_with("REG_") => {
            Some(value.to_ascii_lowercase().into_bytes())
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "8B6C7B1E-2D0A-4E6B-9F3E-1C2D3E4F5A6B";

    #[test]
    fn the_output_of_macos_is_read() {
        assert_eq!(uuid_of(&format!("{UUID}\n")).as_deref(), Some(UUID.as_bytes()));
        for garbage in ["", "\n", "sysctl: unknown oid 'kern.bootsessionuuid'"] {
            assert_eq!(uuid_of(garbage), None, "{garbage}");
        }
        let ioreg = format!(
            "+-o Mac  <class IOPlatformExpertDevice, id 0x100000116>\n    {{\n      \
             \"IOPlatformSerialNumber\" = \"C02XXXXXXXXX\"\n      \"IOPlatformUUID\" = \"{UUID}\"\n"
        );
        assert_eq!(platform_uuid(&ioreg).as_deref(), Some(UUID.as_bytes()));
        assert_eq!(platform_uuid("+-o Mac"), None);
    }

    #[test]
    fn the_output_of_windows_is_read() {
        let boot = "\r\nHKEY_LOCAL_MACHINE\\SYSTEM\\...\\PrefetchParameters\r\n    \
                    BootId    REG_DWORD    0x2A\r\n\r\n";
        assert_eq!(registry_value(boot, "BootId").as_deref(), Some(&b"0x2a"[..]));
        let guid = "\r\n    MachineGuid    REG_SZ    4d1e0f0e-aaaa-bbbb-cccc-1234567890ab\r\n";
        assert!(registry_value(guid, "MachineGuid").is_some());
        assert_eq!(registry_value("ERROR: The system was unable to find it", "BootId"), None);
    }
}
