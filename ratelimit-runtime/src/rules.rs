//! A limit as it is in force: what was declared, and the plan made of it.

use ratelimit_spec::LimitSpec;

use crate::algorithm::{Grain, Plan};

#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) spec: LimitSpec,
    pub(crate) plan: Plan,
}

impl Rules {
    pub(crate) fn new(spec: LimitSpec, grain: Grain) -> Self {
        Self { plan: Plan::new(&spec, grain), spec }
    }
}
