//! The functions of a program by where their code lies, from its ELF symbol table.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolKind, elf};

use crate::BenchError;

/// Functions that were asked for, and where in memory each begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Functions {
    /// Their names, as asked for.
    pub names: Vec<String>,
    /// First address and index of the name, ascending.
    starts: Vec<(u64, usize)>,
}

impl Functions {
    /// Finds functions in a program whose code begins in memory at `code_start_address`.
    ///
    /// A name is a symbol's own, or a path such as `receiver::parse`, which is any Rust function
    /// whose mangled name holds its parts one after another. Every instance of it counts.
    ///
    /// # Errors
    /// When the file cannot be read, is no ELF program, or has no such function.
    pub fn find(
        program: &Path,
        names: &[&str],
        code_start_address: u64,
    ) -> Result<Self, BenchError> {
        let failed =
            |reason: String| BenchError::Functions { program: program.to_path_buf(), reason };
        let bytes = fs::read(program).map_err(|error| failed(error.to_string()))?;
        let file = object::File::parse(&*bytes).map_err(|error| failed(error.to_string()))?;
        let linked_at = file
            .segments()
            .filter(|segment| executable(segment.flags()))
            .map(|segment| segment.address())
            .min()
            .ok_or_else(|| failed("it has no code".into()))?;
        let moved_by = code_start_address.wrapping_sub(linked_at);
        let mut starts = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let before = starts.len();
            starts.extend(
                file.symbols()
                    .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
                    .filter(|symbol| symbol.name().is_ok_and(|symbol| is_named(symbol, name)))
                    .map(|symbol| (symbol.address().wrapping_add(moved_by), index)),
            );
            if starts.len() == before {
                return Err(failed(format!("no symbol is the function `{name}`")));
            }
        }
        Ok(Self::at(names, starts))
    }

    /// Functions that begin at these addresses, each with the index of its name.
    #[must_use]
    pub fn at(names: &[&str], mut starts: Vec<(u64, usize)>) -> Self {
        starts.sort_unstable();
        Self { names: names.iter().map(|&name| name.to_owned()).collect(), starts }
    }

    /// The function that begins at an address, as the index of its name.
    #[must_use]
    pub fn beginning_at(&self, address: u64) -> Option<usize> {
        let place = self.starts.binary_search_by_key(&address, |&(start, _)| start).ok()?;
        Some(self.starts[place].1)
    }
}

fn executable(flags: SegmentFlags) -> bool {
    matches!(flags, SegmentFlags::Elf { p_flags } if p_flags & elf::PF_X != 0)
}

/// In both of Rust's manglings the parts of a path follow one another, each behind its length.
fn is_named(symbol: &str, name: &str) -> bool {
    let part = |part: &str| format!("{}{part}", part.len());
    let mangled = || name.split("::").map(part).collect::<String>();
    let rust = symbol.starts_with("_ZN") || symbol.starts_with("_R");
    symbol == name || (rust && !name.is_empty() && symbol.contains(&mangled()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_or_paths_in_either_mangling() {
        assert!(is_named("parse", "parse"));
        assert!(!is_named("parse_all", "parse"));
        assert!(is_named("_ZN8receiver5parse17h0123456789abcdefE", "receiver::parse"));
        assert!(is_named("_RNvNtCs4fqI2P2rA04_5suite8receiver5parse", "receiver::parse"));
        assert!(!is_named("_ZN8receiver9parse_all17h0123456789abcdefE", "receiver::parse"));
    }

    #[test]
    fn only_the_first_address_is_the_beginning() {
        let functions = Functions::at(&["a", "b"], vec![(0x20, 1), (0x10, 0), (0x30, 0)]);
        let found = [0x10, 0x18, 0x20, 0x30].map(|address| functions.beginning_at(address));
        assert_eq!(found, [Some(0), None, Some(1), Some(0)]);
    }

    #[test]
    fn this_program_has_its_functions_and_no_others() {
        let program = std::env::current_exe().unwrap();
        let start = 0x4000_0000;
        let found = Functions::find(&program, &["functions::is_named"], start).unwrap();
        assert!(found.starts.iter().all(|&(address, _)| address >= start), "{found:x?}");
        let error = Functions::find(&program, &["no_such"], start).unwrap_err().to_string();
        assert!(error.contains("no_such"), "{error}");
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(Functions::find(&text, &["main"], start).is_err());
    }
}
