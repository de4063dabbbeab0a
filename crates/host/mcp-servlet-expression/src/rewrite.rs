//! Adds the calls that charge the budget to an expression.
//!
//! Two shapes must stay: the step of `map` and `filter` appends to the accumulator, and the step of
//! `all` and `exists` begins with it. `cel` runs these shapes in linear time, and others in
//! quadratic time.
//!
//! See `docs/decisions/0050-cel-with-a-budget.md`.

use std::collections::BTreeSet;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators,
};

use super::{
    check::is_qualified,
    functions::{CONTAINS, COST, FUNCTIONS, MATCHES, METHODS, OPTIONAL, TICK},
};

/// Operators that decide which of their operands is evaluated, and accesses to members.
const FREE: &[&str] = &[
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::NOT_STRICTLY_FALSE,
    operators::INDEX,
];

/// Accesses to members that may be absent. `cel` copies what they find.
const OPTIONALS: &[&str] = &[operators::OPT_INDEX, operators::OPT_SELECT];

/// Rewrites an expression.
#[derive(Default)]
pub(super) struct Rewrite {
    /// How many calls of `matches` were rewritten.
    patterns: i64,
    /// The functions that the expression calls now.
    pub(super) functions: BTreeSet<&'static str>,
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
            self.wrap(node, COST);
        }
    }

    fn call(&mut self, call: &mut CallExpr) {
        let is_optional = OPTIONALS.contains(&call.func_name.as_str());
        if is_optional || FREE.contains(&call.func_name.as_str()) {
            call.args
                .iter_mut()
                .for_each(|argument| self.part(argument));
            if is_optional {
                call.func_name = self.declared(OPTIONAL);
            }
            return;
        }
        if call.func_name == "matches" {
            return self.matches(call);
        }
        if call.func_name == operators::IN {
            call.args
                .iter_mut()
                .for_each(|argument| self.costly(argument));
            call.func_name = self.declared(CONTAINS);
            return;
        }
        if !is_qualified(call)
            && let Some(target) = &mut call.target
        {
            self.costly(target);
        }
        call.args
            .iter_mut()
            .for_each(|argument| self.costly(argument));
        self.rename(call);
    }

    /// Calls our own function instead of the one of `cel`.
    fn rename(&mut self, call: &mut CallExpr) {
        let functions = if call.target.is_some() {
            METHODS
        } else {
            FUNCTIONS
        };
        let found = functions.iter().find(|(name, ..)| *name == call.func_name);
        if let Some((_, own, _)) = found {
            call.func_name = self.declared(own);
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
        call.func_name = self.declared(MATCHES);
    }

    fn comprehension(&mut self, one: &mut ComprehensionExpr) {
        // Each turn copies its item, so all items are charged before the first turn.
        self.costly(&mut one.iter_range);
        if !matches!(one.loop_cond.expr, Expr::Literal(_)) {
            self.wrap(&mut one.loop_cond, TICK);
        }
        let Expr::Call(step) = &mut one.loop_step.expr else {
            return;
        };
        match (step.func_name.as_str(), step.args.as_mut_slice()) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR, [_, condition]) => {
                self.turn(condition);
            }
            (operators::CONDITIONAL, [condition, then, _]) => {
                self.turn(condition);
                self.append(then);
            }
            _ => self.append(&mut one.loop_step),
        }
    }

    /// Rewrites `@result + [value]`.
    fn append(&mut self, node: &mut IdedExpr) {
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
            self.turn(value);
        }
    }

    /// Charges for the value of each turn of a loop, even if it is a literal.
    fn turn(&mut self, node: &mut IdedExpr) {
        self.part(node);
        self.wrap(node, COST);
    }

    /// Replaces a part with `function(part)`.
    fn wrap(&mut self, node: &mut IdedExpr, function: &'static str) {
        let id = node.id;
        let call = CallExpr {
            func_name: self.declared(function),
            target: None,
            args: vec![std::mem::take(node)],
        };
        *node = IdedExpr {
            id,
            expr: Expr::Call(call),
        };
    }

    /// The name of a function of this crate, which a run of the expression declares.
    fn declared(&mut self, function: &'static str) -> String {
        self.functions.insert(function);
        function.to_owned()
    }
}
