//! What the figures were measured on.

use std::fs;
use std::process::Command;
use std::thread;

/// `AMD EPYC, 2 cores, x86_64 Linux 6.1, rustc 1.95.0`, as far as the machine tells.
pub(crate) fn describe() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let system = [std::env::consts::ARCH, std::env::consts::OS].join(" ");
    let parts = [processor(), Some(format!("{cores} cores")), Some(system), kernel(), compiler()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim().to_owned();
    let guest = text.lines().any(|line| line.starts_with("flags") && line.contains(" hypervisor"));
    Some(if guest { format!("{name} (a virtual machine)") } else { name })
}

fn kernel() -> Option<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    Some(format!("kernel {}", release.trim()))
}

fn compiler() -> Option<String> {
    let output = Command::new("rustc").arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    Some(version.split(" (").next()?.trim().to_owned())
}
