//! Runs a program on the core model and prints what the paper's tables I to III hold.
//!
//! ```text
//! core_model PLUGIN PROGRAM FUNCTION[,PART...] [ARGUMENT...]
//! ```
//!
//! The plugin is what scripts/build-qemu-plugin built. Counted is the function, and each part of it
//! apart.

use std::error::Error;
use std::io::{self, Write, stdout};
use std::path::Path;

use bitpath_bench::rtp::core_model::{CacheCount, CoreModel, CoreResult, CoreSettings};
use bitpath_bench::rtp::qemu::Tracer;

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = given.iter().map(String::as_str).collect();
    let [plugin, program, functions, arguments @ ..] = words.as_slice() else {
        return Err("give PLUGIN PROGRAM FUNCTION[,PART...] [ARGUMENT...]".into());
    };
    let functions: Vec<&str> = functions.split(',').collect();
    let settings = [CoreSettings::simplescalar(), CoreSettings::modern()];
    let mut cores = Vec::new();
    for settings in &settings {
        cores.push(CoreModel::new(settings, functions.len())?);
    }
    let tracer = Tracer::new(Path::new(plugin));
    tracer.trace(Path::new(program), arguments, &functions, |executed, function| {
        cores.iter_mut().for_each(|core| core.execute(executed, function));
    })?;
    for (settings, core) in settings.iter().zip(&cores) {
        let mut out = stdout().lock();
        writeln!(out, "{}", settings.name)?;
        print(&mut out, &core.result(), &functions)?;
    }
    Ok(())
}

fn print(out: &mut impl Write, result: &CoreResult, functions: &[&str]) -> io::Result<()> {
    let (mix, branches) = (&result.mix, &result.branches);
    let per_cycle = result.instructions_per_cycle();
    writeln!(out, "  {} instructions, {} cycles (modelled)", mix.instructions, result.cycles)?;
    writeln!(out, "  {per_cycle:.2} instructions a cycle (modelled)")?;
    let [loads, stores] = [mix.load_percent(), mix.store_percent()];
    let share = mix.branch_percent();
    writeln!(out, "  loads {loads:.1} %, stores {stores:.1} %, branches {share:.1} %")?;
    let [directions, addresses] = [branches.direction_percent(), branches.address_percent()];
    writeln!(out, "  right directions {directions:.1} %, addresses {addresses:.1} %")?;
    let caches = [("il1", &result.instruction_cache), ("dl1", &result.data_cache)];
    let outer = ["l2", "l3"].into_iter().zip(&result.outer_caches);
    for (name, cache) in caches.into_iter().chain(outer) {
        let CacheCount { accesses, .. } = cache;
        writeln!(out, "  {name}: {accesses} accesses, {:.2} % missed", cache.miss_percent())?;
    }
    for (name, cost) in functions.iter().zip(&result.functions) {
        writeln!(out, "  {name}: {} instructions, {} cycles", cost.instructions, cost.cycles)?;
    }
    Ok(())
}
