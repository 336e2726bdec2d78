//! How large a program is, and its functions.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SectionKind, SymbolKind};

pub(super) struct Size {
    /// Bytes of machine code.
    pub(super) code: f64,
    /// Bytes of all that is loaded, code included.
    pub(super) loaded: f64,
    /// Mangled names, and bytes of machine code.
    functions: Vec<(String, f64)>,
}

impl Size {
    pub(super) fn of(program: &Path) -> Result<Self, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", program.display());
        let bytes = fs::read(program).map_err(|error| wrong(&error))?;
        let file = object::File::parse(&*bytes).map_err(|error| wrong(&error))?;
        let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let loaded = file.segments().map(|segment| float(segment.size()));
        let functions = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text)
            .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), float(symbol.size()))))
            .collect();
        Ok(Self { code: code.map(|section| float(section.size())).sum(), loaded: loaded.sum(), functions })
    }

    /// The machine code of a function, closures and other functions within it included.
    pub(super) fn of_function(&self, name: &str) -> f64 {
        self.functions.iter().filter(|(mangled, _)| mangled.contains(name)).map(|(_, size)| size).sum()
    }
}

fn float(size: u64) -> f64 {
    u32::try_from(size).map_or(f64::INFINITY, f64::from)
}
