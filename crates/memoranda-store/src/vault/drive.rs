//! The drive on which a folder lies: its attachment to the machine, and if it can be pulled out.
//!
//! A drive that is pulled out loses unforced writes while the machine runs on. Two equal attachments
//! in one run of the machine prove that the drive was never away between two moments.

use std::path::Path;

use crate::files::state_files;

/// Volumes can lie on each other, as an encrypted one on a stick. Further levels are not followed.
#[cfg(target_os = "linux")]
const MAX_LEVELS: usize = 4;

/// The drive of a folder, as far as the system describes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Drive {
    /// The number of this attachment, which the kernel gives only once in a run of the machine.
    /// `None` if the system has no such number.
    pub(crate) attachment: Option<u64>,
    /// True if the drive can be pulled out while the machine runs.
    pub(crate) is_removable: bool,
}

impl Drive {
    /// Asks the system about the drive of a folder.
    pub(crate) fn of(folder: &Path) -> Self {
        #[cfg(all(feature = "faults", target_os = "linux"))]
        if let Some(number) = crate::machine::simulated(|machine| machine.attachment(folder)) {
            return Self { attachment: Some(number), is_removable: false };
        }
        #[cfg(feature = "faults")]
        if let Some(pretended) = crate::faults::pretended_drive() {
            return pretended;
        }
        of_system(folder)
    }
}

#[cfg(target_os = "linux")]
fn of_system(folder: &Path) -> Drive {
    let Some((device, _)) = state_files::identity(folder) else { return Drive::default() };
    let Some(block) = block_folder(device) else { return Drive::default() };
    let mut drive = of_block(&block, MAX_LEVELS);
    // Without the drive of the system itself the machine does not run on.
    let system = state_files::identity(Path::new("/")).map(|(device, _)| device);
    drive.is_removable &= system != Some(device);
    drive
}

/// Finds the drive on macOS, which mounts every volume except its own below `/Volumes`. It has no number for attachments.
#[cfg(target_os = "macos")]
fn of_system(folder: &Path) -> Drive {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    Drive { attachment: None, is_removable: folder.starts_with("/Volumes") }
}

/// Windows does not cache writes to removable drives, unless a person asks for it.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn of_system(_: &Path) -> Drive {
    Drive::default()
}

/// Returns the folder in which the kernel describes a block device.
#[cfg(target_os = "linux")]
fn block_folder(device: u64) -> Option<std::path::PathBuf> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    if major != 0 {
        return Path::new("/sys/dev/block").join(format!("{major}:{minor}")).canonicalize().ok();
    }
    // A file system with numbers of its own, such as btrfs: the table of mounts has its device.
    let mounts = state_files::read(Path::new("/proc/self/mountinfo")).ok()??;
    let source = mount_source(&String::from_utf8_lossy(&mounts), minor)?;
    let block = Path::new(&source).canonicalize().ok()?;
    Path::new("/sys/class/block").join(block.file_name()?).canonicalize().ok()
}

/// Returns the device file from which the file system `0:minor` is mounted.
#[cfg(target_os = "linux")]
fn mount_source(mounts: &str, minor: u32) -> Option<String> {
    let number = format!("0:{minor}");
    let mut sources = mounts.lines().filter_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        let is_it = mount.split(' ').nth(2) == Some(&*number);
        is_it.then(|| system.split(' ').nth(1))?
    });
    sources.find(|source| source.starts_with("/dev/")).map(str::to_owned)
}

/// Reads the description of a block device, which is a disk or a part of the disk above it.
#[cfg(target_os = "linux")]
fn of_block(block: &Path, levels: usize) -> Drive {
    let places = [Some(block), block.parent()];
    let text = |name: &str| {
        let read = |folder: &Path| {
            let bytes = state_files::read(&folder.join(name)).ok()??;
            Some(String::from_utf8_lossy(&bytes).trim().to_owned())
        };
        places.into_iter().flatten().find_map(read)
    };
    let is_usb = block.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        name.strip_prefix("usb").is_some_and(|bus| bus.starts_with(|c: char| c.is_ascii_digit()))
    });
    let slaves = block.join("slaves");
    let is_on_removable = levels > 0
        && state_files::names(&slaves).unwrap_or_default().iter().any(|name| {
            let below = slaves.join(name).canonicalize();
            below.is_ok_and(|below| of_block(&below, levels - 1).is_removable)
        });
    let is_card = text("device/type").as_deref() == Some("SD");
    let has_flag = text("removable").as_deref() == Some("1");
    Drive {
        attachment: text("diskseq").and_then(|number| number.parse().ok()),
        is_removable: has_flag || is_usb || is_card || is_on_removable,
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a pretended /sys")]

    use super::*;

    /// Makes a folder as the kernel describes a device: a name and a text for each file.
    fn describe(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
    }

    #[test]
    fn the_kernel_describes_drives() {
        let sys = tempfile::TempDir::new().unwrap();
        let place = |name: &str| sys.path().join(name);
        describe(&place("pci0/nvme0/nvme0n1"), &[("diskseq", "9\n"), ("removable", "0\n")]);
        describe(&place("pci0/nvme0/nvme0n1/nvme0n1p2"), &[("partition", "2\n")]);
        describe(&place("stick/sdb"), &[("diskseq", "31\n"), ("removable", "1\n")]);
        describe(&place("stick/sdb/sdb1"), &[("partition", "1\n")]);
        describe(&place("pci0/usb2/2-1/block/sdc"), &[("diskseq", "7\n"), ("removable", "0\n")]);
        describe(&place("card/mmcblk0"), &[("diskseq", "3\n"), ("device/type", "SD\n")]);
        describe(&place("virtual/dm-0"), &[("diskseq", "40\n"), ("slaves/x", "")]);
        std::fs::remove_file(place("virtual/dm-0/slaves/x")).unwrap();
        let below = place("virtual/dm-0/slaves/sdb1");
        std::os::unix::fs::symlink(place("stick/sdb/sdb1"), below).unwrap();
        describe(&place("virtual/dm-1"), &[("diskseq", "41\n")]);
        for (name, attachment, is_removable) in [
            ("pci0/nvme0/nvme0n1", Some(9), false),
            ("pci0/nvme0/nvme0n1/nvme0n1p2", Some(9), false),
            ("stick/sdb/sdb1", Some(31), true),
            ("pci0/usb2/2-1/block/sdc", Some(7), true),
            ("card/mmcblk0", Some(3), true),
            ("virtual/dm-0", Some(40), true),
            ("virtual/dm-1", Some(41), false),
            ("nothing", None, false),
        ] {
            let expected = Drive { attachment, is_removable };
            assert_eq!(of_block(&place(name), MAX_LEVELS), expected, "{name}");
        }
    }

    #[test]
    fn the_table_of_mounts_has_the_device() {
        let mounts = "22 27 0:21 / /proc rw - proc proc rw\n\
                      40 27 0:45 / /home rw shared:1 - btrfs /dev/sdb1 rw,subvol=/home\n\
                      41 27 0:46 / /net rw - nfs4 server:/export rw\n";
        assert_eq!(mount_source(mounts, 45).as_deref(), Some("/dev/sdb1"));
        assert_eq!(mount_source(mounts, 46), None);
        assert_eq!(mount_source(mounts, 99), None);
    }
}
