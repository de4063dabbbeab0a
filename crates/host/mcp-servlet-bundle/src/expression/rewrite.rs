//! Adds the calls that charge the budget to an expression.
//!
//! Two shapes must stay: the step of `map` and `filter` appends to the accumulator, and the step of
//! `all` and `exists` begins with it. `cel` runs these shapes in linear time, and others in
//! quadratic time.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators,
};

use super::{
    check::is_qualified,
    functions::{COST, FUNCTIONS, METHODS, TICK, TURN},
};

/// Operators that decide which of their operands is evaluated, and accesses to members.
const FREE: &[&str] = &[
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::NOT_STRICTLY_FALSE,
    operators::INDEX,
    operators::OPT_INDEX,
    operators::OPT_SELECT,
];

/// Rewrites an expression.
#[derive(Default)]
pub(super) struct Rewrite {
    /// How many calls of `matches` were rewritten.
    patterns: i64,
}

impl Rewrite {
    pub(super) fn part(&mut self, node: &mut IdedExpr) {
        match &mut node.expr {
            Expr::Select(select) => self.part(&mut select.operand),
            Expr::Call(call) => self.call(call),
            Expr::List(list) => list.elements.iter_mut().for_each(|item| self.costly(item)),
            Expr::Map(map) => {
                for entry in &mut map.entries {
                    if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                        self.costly(&mut entry.key);
                        self.costly(&mut entry.value);
                    }
                }
            }
            Expr::Comprehension(one) => self.comprehension(one),
            Expr::Struct(_) | Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    /// Charges for the value of a part.
    fn costly(&mut self, node: &mut IdedExpr) {
        self.part(node);
        if !matches!(node.expr, Expr::Literal(_)) {
            wrap(node, COST, Vec::new());
        }
    }

    fn call(&mut self, call: &mut CallExpr) {
        if FREE.contains(&call.func_name.as_str()) {
            call.args
                .iter_mut()
                .for_each(|argument| self.part(argument));
            return;
        }
        if call.func_name == "matches" {
            return self.matches(call);
        }
        if !is_qualified(call)
            && let Some(target) = &mut call.target
        {
            self.costly(target);
        }
        call.args
            .iter_mut()
            .for_each(|argument| self.costly(argument));
        Self::rename(call);
    }

    /// Calls our own function instead of the one of `cel`.
    fn rename(call: &mut CallExpr) {
        let own = if call.target.is_some() {
            METHODS
        } else {
            FUNCTIONS
        };
        let own = own.iter().find(|(name, ..)| *name == call.func_name);
        if let Some((_, own, _)) = own {
            (*own).clone_into(&mut call.func_name);
            if let Some(target) = call.target.take() {
                call.args.insert(0, *target);
            }
        }
    }

    /// The pattern becomes its number.
    fn matches(&mut self, call: &mut CallExpr) {
        if let Some(target) = call.target.take() {
            call.args.insert(0, *target);
        }
        if let [text, pattern] = call.args.as_mut_slice() {
            self.part(text);
            pattern.expr = Expr::Literal(LiteralValue::Int(self.patterns.into()));
            self.patterns += 1;
        }
        "@matches".clone_into(&mut call.func_name);
    }

    fn comprehension(&mut self, one: &mut ComprehensionExpr) {
        self.part(&mut one.iter_range);
        if !matches!(one.loop_cond.expr, Expr::Literal(_)) {
            wrap(&mut one.loop_cond, TICK, Vec::new());
        }
        let Expr::Call(step) = &mut one.loop_step.expr else {
            return;
        };
        let item = || IdedExpr {
            id: one.iter_range.id,
            expr: Expr::Ident(one.iter_var.clone()),
        };
        match (step.func_name.as_str(), step.args.as_mut_slice()) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR, [_, condition]) => {
                self.part(condition);
                wrap(condition, TURN, vec![item()]);
            }
            (operators::CONDITIONAL, [condition, then, _]) => {
                self.part(condition);
                wrap(condition, TURN, vec![item()]);
                self.append(then, None);
            }
            _ => self.append(&mut one.loop_step, Some(item())),
        }
    }

    /// Rewrites `@result + [value]`.
    fn append(&mut self, node: &mut IdedExpr, item: Option<IdedExpr>) {
        let Expr::Call(call) = &mut node.expr else {
            return;
        };
        if let [
            _,
            IdedExpr {
                expr: Expr::List(list),
                ..
            },
        ] = call.args.as_mut_slice()
            && let [value] = list.elements.as_mut_slice()
        {
            self.part(value);
            match item {
                Some(item) => wrap(value, TURN, vec![item]),
                None => wrap(value, COST, Vec::new()),
            }
        }
    }
}

/// Replaces a part with `function(before, part)`.
fn wrap(node: &mut IdedExpr, function: &str, before: Vec<IdedExpr>) {
    let id = node.id;
    let mut args = before;
    args.push(std::mem::take(node));
    *node = IdedExpr {
        id,
        expr: Expr::Call(CallExpr {
            func_name: function.to_owned(),
            target: None,
            args,
        }),
    };
}
