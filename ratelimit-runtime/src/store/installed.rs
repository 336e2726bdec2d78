//! Which stores there are, by name.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    error::Error,
    fmt,
    sync::{Arc, RwLock},
};

use super::Store;
use crate::sync::unpoisoned;

static STORES: RwLock<BTreeMap<String, Arc<dyn Store>>> = RwLock::new(BTreeMap::new());

/// Installs a store under a name, for the limits whose `store` says so: once per name, before or after their first call.
///
/// Until then such a limit is decided by this process alone, by the whole of it: so many processes admit so many times as
/// much. No policy of a store applies, since there is none to ask. [`verify`](crate::verify) reports it, and
/// [`Stats::store_failures`](crate::Stats::store_failures) counts the calls.
///
/// # Errors
///
/// If there is one of that name, or the name is empty or `local`, which is this process.
pub fn install_store(name: &str, store: impl Store) -> Result<(), InstallError> {
    if name.is_empty() || name == "local" {
        return Err(InstallError { name: name.to_owned(), taken: false });
    }
    match unpoisoned(STORES.write()).entry(name.to_owned()) {
        Entry::Vacant(place) => {
            place.insert(Arc::new(store));
            Ok(())
        }
        Entry::Occupied(_) => Err(InstallError { name: name.to_owned(), taken: true }),
    }
}

pub(super) fn installed(name: &str) -> Option<Arc<dyn Store>> {
    unpoisoned(STORES.read()).get(name).cloned()
}

pub(crate) fn is_installed(name: &str) -> bool {
    unpoisoned(STORES.read()).contains_key(name)
}

/// A store cannot be installed under that name.
#[derive(Clone, Debug)]
pub struct InstallError {
    name: String,
    taken: bool,
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        if self.taken {
            write!(f, "a store is installed as `{name}` already, and stays; give this one another name")
        } else {
            write!(f, "no store can be called `{name}`; give it a name of its own, such as `redis`")
        }
    }
}

impl Error for InstallError {}
