//! The machine as the record knows it; what could not be read is said to be unknown.

use bitpath_measure::environment::{
    Cache, Clock, Cpu, Environment, Nic, Setting, System, Topology,
};
use bitpath_measure::{Run, Unit};

use super::Block;
use crate::format;
use crate::table::Table;

type Pairs = Vec<(String, String)>;

/// System, processor, memory, clock, settings and interfaces.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    let Some(environment) = &run.environment else {
        return Vec::new();
    };
    let mut pairs = system(&environment.system);
    pairs.extend(cpu(&environment.cpu));
    pairs.extend(environment.topology.iter().flat_map(topology));
    pairs.extend(memory_and_load(environment));
    pairs.extend(clock(&environment.clock));
    let mut blocks = vec![Block::Table(Table::of_pairs(["fact", "value"], pairs))];
    if !environment.nics.is_empty() {
        blocks.push(Block::Table(nics(&environment.nics)));
    }
    let settings = |title: &str, settings: &[Setting]| {
        let pairs = settings.iter().map(|setting| (setting.name.clone(), setting.value.clone()));
        let table = Table::of_pairs([title, "value"], pairs.collect());
        (!settings.is_empty()).then_some(Block::Table(table))
    };
    blocks.extend(settings("kernel setting", &environment.settings));
    blocks.extend(settings("version of", &environment.versions));
    blocks
}

fn system(system: &System) -> Pairs {
    vec![
        pair("system", &system.distribution),
        pair("kernel", &system.kernel),
        pair("architecture", &system.architecture),
        pair("hypervisor", system.hypervisor.as_deref().unwrap_or("none seen")),
    ]
}

fn cpu(cpu: &Cpu) -> Pairs {
    let frequency = cpu.frequency_hz.map(|hertz| format::value(Unit::Hertz, hertz));
    let allowed: Vec<_> = cpu.allowed.iter().map(ToString::to_string).collect();
    vec![
        pair("processor", &cpu.model),
        pair("logical processors, cores", &format!("{}, {}", cpu.logical, cpu.cores)),
        pair("usable processors", &allowed.join(", ")),
        pair("caches", &cpu.caches.iter().map(cache).collect::<Vec<_>>().join("; ")),
        pair("governor", cpu.governor.as_deref().unwrap_or_default()),
        pair("frequency at the start", &frequency.unwrap_or_default()),
        pair("instruction sets", &cpu.features.join(" ")),
    ]
}

/// Which processors are near to each other, and to what.
fn topology(topology: &Topology) -> Pairs {
    let near = topology.near_nics.iter().map(|(nic, cpus)| format!("{nic}: {}", numbers(cpus)));
    vec![
        pair("packages", &topology.packages.to_string()),
        pair("processors by core", &groups(&topology.cores)),
        pair("by cache of the last level", &groups(&topology.cache_domains)),
        pair("by memory node", &groups(&topology.memory_nodes)),
        pair("near to interfaces", &near.collect::<Vec<_>>().join("; ")),
    ]
}

fn groups(groups: &[Vec<usize>]) -> String {
    groups.iter().map(|group| format!("({})", numbers(group))).collect::<Vec<_>>().join(" ")
}

/// Numbers with runs of neighbours as the kernel writes them, `0-3 8`.
fn numbers(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let run = |run: &[usize]| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run.iter().map(ToString::to_string).collect(),
    };
    runs.map(run).collect::<Vec<_>>().join(" ")
}

fn cache(cache: &Cache) -> String {
    let size = format::value(Unit::Bytes, cache.size_bytes as f64);
    format!("L{} {} {size}, shared by {}", cache.level, cache.kind, cache.shared_by)
}

fn memory_and_load(environment: &Environment) -> Pairs {
    let size = |bytes: u64| format::value(Unit::Bytes, bytes as f64);
    let load = environment.load;
    vec![
        pair("memory", &size(environment.memory_bytes)),
        pair("memory available at the start", &size(environment.memory_available_bytes)),
        pair(
            "load over one minute, runnable",
            &format!("{:.2}, {}", load.one_minute, load.runnable),
        ),
        pair("root", if environment.root { "yes" } else { "no" }),
    ]
}

fn clock(clock: &Clock) -> Pairs {
    let nanos = |value: f64| format::value(Unit::Nanoseconds, value);
    let hertz = |rate: Option<f64>| rate.map(|rate| format::value(Unit::Hertz, rate));
    vec![
        pair("clock source", &clock.source),
        pair("clock resolution stated", &nanos(clock.resolution_ns)),
        pair("clock step observed", &nanos(clock.observed_step_ns)),
        pair("time stamp counter", &hertz(clock.tsc_hz).unwrap_or_default()),
        pair("kernel tick", &hertz(clock.tick_hz).unwrap_or_default()),
    ]
}

fn nics(nics: &[Nic]) -> Table {
    let mut table =
        Table::new(&["interface", "driver", ">speed", ">MTU", ">queues rx/tx", "up", "offloads"]);
    for nic in nics {
        let speed =
            nic.speed_bits_per_second.map(|rate| format::value(Unit::BitsPerSecond, rate as f64));
        table.push([
            nic.name.clone(),
            nic.driver.clone().unwrap_or_else(|| UNKNOWN.into()),
            speed.unwrap_or_else(|| UNKNOWN.into()),
            format!("{} B", nic.mtu_bytes),
            format!("{}/{}", nic.queues.receive, nic.queues.transmit),
            if nic.up { "yes" } else { "no" }.into(),
            if nic.offloads.is_empty() { "none".into() } else { nic.offloads.join(" ") },
        ]);
    }
    table
}

/// What stands for a fact that could not be read.
const UNKNOWN: &str = "unknown";

fn pair(name: &str, value: &str) -> (String, String) {
    (name.into(), if value.is_empty() { UNKNOWN.into() } else { value.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_processors_are_written_as_the_kernel_does() {
        assert_eq!(numbers(&[0, 1, 2, 3, 8]), "0-3 8");
        assert_eq!(groups(&[vec![0, 2], vec![1, 3], vec![]]), "(0 2) (1 3) ()");
    }
}
