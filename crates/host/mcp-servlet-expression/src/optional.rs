//! Optional values in conditions.
//!
//! In `cel`, an optional value is never equal to a plain value, and comparing them is no error. So `arguments.?mode == 'danger'` would
//! never hold.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, operators};

use crate::{Mistake, source::Source};

/// The mistakes of an operand in which an optional value is used without a default.
pub(super) fn mistakes(operand: &IdedExpr, source: &Source) -> Vec<Mistake> {
    let mut uses = Uses {
        source,
        mistakes: Vec::new(),
    };
    // An operand may be an optional boolean: if it is absent, the condition has no value.
    uses.part(operand, true);
    uses.mistakes
}

struct Uses<'a> {
    source: &'a Source,
    mistakes: Vec<Mistake>,
}

impl Uses<'_> {
    /// Checks a part. `is_taken` says whether an optional value is allowed here.
    fn part(&mut self, node: &IdedExpr, is_taken: bool) {
        if !is_taken && is_optional(node) {
            self.mistakes.push(Mistake {
                range: self.range(node),
                message: "this is an optional value; write `.orValue(…)` after it".to_owned(),
            });
            return;
        }
        match &node.expr {
            Expr::Select(select) => self.part(&select.operand, true),
            Expr::Call(call) => self.call(call),
            Expr::List(list) => list.elements.iter().for_each(|item| self.part(item, false)),
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.part(&entry.key, false);
                        self.part(&entry.value, false);
                    }
                }
            }
            Expr::Comprehension(one) => {
                self.part(&one.iter_range, false);
                self.part(&one.loop_step, false);
            }
            Expr::Struct(_) | Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    fn call(&mut self, call: &CallExpr) {
        let name = call.func_name.as_str();
        let is_of_optional = ["hasValue", "or", "orValue", "value"].contains(&name);
        if let Some(target) = &call.target {
            self.part(target, is_of_optional);
        }
        for (number, argument) in call.args.iter().enumerate() {
            let is_taken = (is_access(name) && number == 0) || name == "or";
            self.part(argument, is_taken);
        }
    }

    /// The name of the member that may be absent, or else the whole text.
    fn range(&self, node: &IdedExpr) -> std::ops::Range<usize> {
        let path = crate::as_path::path(node, self.source);
        let mut steps = path.into_iter().flat_map(|path| path.steps);
        let range = steps.find_map(|step| match step {
            crate::PathStep::Member {
                is_optional: true,
                range,
                ..
            } => Some(range),
            _ => None,
        });
        range.unwrap_or(0..self.source.text.len())
    }
}

fn is_access(function: &str) -> bool {
    function == operators::INDEX || is_optional_access(function)
}

fn is_optional_access(function: &str) -> bool {
    [operators::OPT_INDEX, operators::OPT_SELECT].contains(&function)
}

/// Whether the value of a part is optional.
fn is_optional(node: &IdedExpr) -> bool {
    match &node.expr {
        // A member of an optional value is optional.
        Expr::Select(select) => !select.test && is_optional(&select.operand),
        Expr::Call(call) => {
            let name = call.func_name.as_str();
            let is_of_namespace =
                |target: &IdedExpr| matches!(&target.expr, Expr::Ident(name) if name == "optional");
            is_optional_access(name)
                || (name == operators::INDEX && is_optional(&call.args[0]))
                || call
                    .target
                    .as_ref()
                    .is_some_and(|target| name == "or" || is_of_namespace(target))
        }
        _ => false,
    }
}
