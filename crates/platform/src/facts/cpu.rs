//! The processors: model, cores, caches, frequency, and whether they are virtual.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bitpath_measure::environment::{Cache, Cpu};
use procfs::{CpuInfo, Current};

use super::{text, value};
use crate::affinity::{Core, allowed_cpus, core_of};

/// The processors of this machine.
pub(super) fn cpu() -> Cpu {
    let info = CpuInfo::current().ok();
    let online = online();
    let field = |name: &str| info.as_ref().and_then(|info| info.get_field(0, name));
    let megahertz = field("cpu MHz").and_then(|text| text.trim().parse::<f64>().ok());
    Cpu {
        model: field("model name").unwrap_or_default().trim().to_owned(),
        logical: online.len(),
        cores: cores(&online),
        allowed: allowed_cpus().unwrap_or_default(),
        caches: caches(),
        governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        frequency_hz: megahertz.map(|megahertz| megahertz * 1e6),
        features: features(field("flags").or_else(|| field("Features")).unwrap_or_default()),
    }
}

/// Who runs this machine, where the processor says that somebody does.
#[cfg(target_arch = "x86_64")]
pub(super) fn hypervisor() -> Option<String> {
    use raw_cpuid::{CpuId, Hypervisor};

    let cpuid = CpuId::new();
    if !cpuid.get_feature_info().is_some_and(|features| features.has_hypervisor()) {
        return None;
    }
    let name = match cpuid.get_hypervisor_info().map(|info| info.identify()) {
        None | Some(Hypervisor::Unknown(..)) => "unknown hypervisor".into(),
        Some(known) => format!("{known:?}"),
    };
    Some(name)
}

/// Other processors have no common way to say it.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn hypervisor() -> Option<String> {
    None
}

/// Processors online; the first where the kernel does not say.
fn online() -> Vec<usize> {
    text("/sys/devices/system/cpu/online")
        .and_then(|list| cpu_list(&list))
        .unwrap_or_else(|| vec![0])
}

/// Different cores among processors; each its own where the kernel does not say.
fn cores(online: &[usize]) -> usize {
    let known: Option<BTreeSet<Core>> = online.iter().map(|&cpu| core_of(cpu)).collect();
    known.map_or(online.len(), |cores| cores.len())
}

/// Caches of the first processor, from the smallest.
fn caches() -> Vec<Cache> {
    let Ok(entries) = fs::read_dir("/sys/devices/system/cpu/cpu0/cache") else {
        return Vec::new();
    };
    let mut caches: Vec<Cache> = entries.filter_map(|entry| cache(&entry.ok()?.path())).collect();
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

fn cache(directory: &Path) -> Option<Cache> {
    Some(Cache {
        level: value(directory.join("level"))?,
        kind: text(directory.join("type"))?,
        size_bytes: size_bytes(&text(directory.join("size"))?)?,
        shared_by: cpu_list(&text(directory.join("shared_cpu_list"))?)?.len(),
    })
}

/// A size as the kernel writes it, `48K` or `32M` [B].
fn size_bytes(text: &str) -> Option<u64> {
    let scale = match text.chars().last()? {
        'K' => 1 << 10,
        'M' => 1 << 20,
        'G' => 1 << 30,
        _ => return text.parse().ok(),
    };
    Some(text[..text.len() - 1].parse::<u64>().ok()? * scale)
}

/// Processors as the kernel lists them, `0-3,8`.
fn cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok();
        cpus.extend(number(first)?..=number(last)?);
    }
    Some(cpus)
}

/// Those of the processor's extensions that bear on copying and decoding.
fn features(flags: &str) -> Vec<String> {
    let flags: BTreeSet<&str> = flags.split_whitespace().collect();
    NOTED.iter().filter(|name| flags.contains(*name)).map(|name| (*name).into()).collect()
}

/// Vector units, fast string moves and huge pages, by the kernel's names on x86 and Arm.
const NOTED: [&str; 15] = [
    "sse2", "ssse3", "sse4_1", "sse4_2", "avx", "avx2", "avx512f", "avx512bw", "erms", "fsrm",
    "pdpe1gb", "asimd", "sve", "sve2", "mops",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_processors_and_caches() {
        let cpu = cpu();
        assert!(cpu.logical >= cpu.cores && cpu.cores >= 1, "{cpu:?}");
        assert!(!cpu.allowed.is_empty() && cpu.allowed.len() <= cpu.logical);
        assert!(cpu.caches.is_sorted_by_key(|cache| cache.level));
        assert!(cpu.caches.iter().all(|cache| cache.size_bytes >= 1024 && cache.shared_by >= 1));
    }

    #[test]
    fn sizes_are_read_with_their_unit() {
        for (text, bytes) in [
            ("48K", Some(49_152)),
            ("2M", Some(2 << 20)),
            ("64", Some(64)),
            ("", None),
            ("K", None),
        ] {
            assert_eq!(size_bytes(text), bytes, "{text}");
        }
    }

    #[test]
    fn processor_lists_are_read_with_their_ranges() {
        for (text, cpus) in [
            ("0", Some(vec![0])),
            ("0-2,5", Some(vec![0, 1, 2, 5])),
            ("", None),
            ("0-", None),
            ("a", None),
        ] {
            assert_eq!(cpu_list(text), cpus, "{text}");
        }
    }

    #[test]
    fn only_extensions_that_matter_are_noted() {
        assert_eq!(features("fpu avx2 vme sse2"), ["sse2", "avx2"]);
    }
}
