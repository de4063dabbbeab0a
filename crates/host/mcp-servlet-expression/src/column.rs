//! Expressions that take one member of each item of a list, such as `result.days.map(day, day.high)`.
//!
//! Virtual tools often show one member of each item of a result. `cel` would copy all members of all items for that.

use cel::common::ast::{ComprehensionExpr, Expr, IdedExpr, operators};
use serde_json::Value;

use super::{
    as_path::path,
    budget::{BYTES_PER_STEP, Budget, weight},
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
    /// The column that an expression takes. None if it does anything else.
    pub(super) fn of(node: &IdedExpr, source: &Source) -> Option<Self> {
        let Expr::Comprehension(map) = &node.expr else {
            return None;
        };
        let (list, value) = (
            path(&map.iter_range, source)?,
            path(value_of(map)?, source)?,
        );
        let mut steps = list.steps.iter().chain(&value.steps);
        if value.root != map.iter_var || value.steps.is_empty() || steps.any(PathStep::is_optional)
        {
            return None;
        }
        let members = value
            .steps
            .iter()
            .map(|step| step.name().map(str::to_owned))
            .collect::<Option<_>>()?;
        Some(Self { list, members })
    }

    /// The values, if every item has the member and no value is an object or an array. Otherwise `cel` finds the value or
    /// the error.
    pub(super) fn run(&self, scope: &Scope<'_>, budget: &mut Budget) -> Option<Value> {
        let Found::Value(Part::Json(Value::Array(items))) = scope.find(&self.list) else {
            return None;
        };
        let (mut values, mut cost) = (Vec::new(), 0);
        for item in items {
            let members = &mut self.members.iter();
            let value = members.try_fold(item, |value, name| value.as_object()?.get(name))?;
            if value.is_object() || value.is_array() {
                return None;
            }
            // As an iteration of `map`: a step, and the bytes of the value.
            cost += BYTES_PER_STEP + weight(value);
            if !budget.affords(cost) {
                return None;
            }
            values.push(value.clone());
        }
        budget.spend(cost);
        Some(values.into())
    }
}

/// The value of each iteration, if this is `map` without a condition, as the parser of `cel` expands it.
fn value_of(map: &ComprehensionExpr) -> Option<&IdedExpr> {
    let Expr::Call(step) = &map.loop_step.expr else {
        return None;
    };
    let [_, appended] = step.args.as_slice() else {
        return None;
    };
    match &appended.expr {
        Expr::List(list) if step.func_name == operators::ADD && map.iter_var2.is_none() => {
            list.elements.first()
        }
        _ => None,
    }
}
