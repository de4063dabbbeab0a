//! Expressions that take one member of each item of a list, such as `result.days.map(day, day.high)`.
//!
//! Results are often lists of which a virtual tool shows one member. `cel` copies all items for that, with all of their
//! members.

use cel::common::ast::{Expr, IdedExpr, operators};
use serde_json::Value;

use super::{
    budget::{Budget, MAX_READ, weigh_json},
    path::path,
    source::Source,
};
use crate::{
    path::{Path, PathStep},
    scope::{Found, Part, Scope},
};

/// A list, and the members that lead from each of its items to a value.
#[derive(Debug)]
pub(super) struct Column {
    list: Path,
    members: Vec<String>,
}

impl Column {
    /// The column that an expression consists of: `map` without a condition, as the parser of `cel` expands it.
    pub(super) fn of(node: &IdedExpr, source: &Source<'_>) -> Option<Self> {
        let Expr::Comprehension(map) = &node.expr else {
            return None;
        };
        let Expr::Call(step) = &map.loop_step.expr else {
            return None;
        };
        let [_, appended] = step.args.as_slice() else {
            return None;
        };
        let Expr::List(appended) = &appended.expr else {
            return None;
        };
        let [value] = appended.elements.as_slice() else {
            return None;
        };
        let (list, value) = (path(&map.iter_range, source)?, path(value, source)?);
        let is_map = step.func_name == operators::ADD && map.iter_var2.is_none();
        let reads_item = value.root == map.iter_var && !value.steps.is_empty();
        let mut steps = list.steps.iter().chain(&value.steps);
        if !is_map || !reads_item || steps.any(PathStep::is_optional) {
            return None;
        }
        let members = value
            .steps
            .iter()
            .map(|step| step.name().map(str::to_owned));
        let members = members.collect::<Option<_>>()?;
        Some(Self { list, members })
    }

    /// The values, if all of them are there, and none has members or items. Otherwise `cel` has to find the value or the error.
    pub(super) fn run(&self, scope: &Scope<'_>, budget: &mut Budget) -> Option<Value> {
        let Found::Value(Part::Json(Value::Array(items))) = scope.find(&self.list) else {
            return None;
        };
        let (mut values, mut weight) = (Vec::new(), 0);
        for item in items {
            let value = self
                .members
                .iter()
                .try_fold(item, |value, name| value.as_object()?.get(name))?;
            weigh_json(value, MAX_READ, &mut weight);
            if value.is_object() || value.is_array() || !budget.affords(weight) {
                return None;
            }
            values.push(value.clone());
        }
        budget.spend(weight);
        Some(values.into())
    }
}
