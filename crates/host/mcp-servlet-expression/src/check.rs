//! What an expression reads, and the functions that it calls, before it runs.
//!
//! `cel` finds unknown names only when it runs.

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use mcp_servlet_schema::similar;

use super::{
    Mistake,
    as_path::path,
    functions::{FUNCTIONS, METHODS},
    parse::token,
    pattern::Pattern,
    source::Source,
};
use crate::path::{Path, PathStep};

/// How deep loops may be nested.
const MAX_LOOPS: usize = 3;

/// How deep the parts of an expression may be nested. `cel` recurses when it runs them.
const MAX_DEPTH: usize = 96;

/// Functions of `cel` that are called as `f(x)`.
const GLOBAL: &[&str] = &[
    "bool", "bytes", "double", "dyn", "int", "size", "string", "type", "uint",
];

/// Functions of `cel` that are called as `x.f()`.
const MEMBERS: &[&str] = &[
    "charAt",
    "contains",
    "endsWith",
    "format",
    "hasValue",
    "lowerAscii",
    "or",
    "orValue",
    "reverse",
    "size",
    "startsWith",
    "substring",
    "trim",
    "upperAscii",
    "value",
];

/// Macros of `cel`, which are functions to their authors.
const MACROS: &[&str] = &["all", "exists", "exists_one", "filter", "has", "map"];

/// The variable of loops that `optMap` and `optFlatMap` expand to. Expressions cannot contain this name.
const NO_VARIABLE: &str = "#unused";

/// Functions in namespaces.
pub(super) const QUALIFIED: &[(&str, &[&str])] = &[
    ("optional", &["none", "of", "ofNonZeroValue"]),
    ("strings", &["quote"]),
];

/// All functions and macros that are not in a namespace.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let own = METHODS.iter().chain(FUNCTIONS).map(|(known, ..)| *known);
    let plain = [GLOBAL, MEMBERS, MACROS].into_iter().flatten().copied();
    plain.chain(own)
}

/// Whether a call is of a function in a namespace, such as `optional.of(x)`.
pub(super) fn is_qualified(call: &CallExpr) -> bool {
    let Some(Expr::Ident(space)) = call.target.as_ref().map(|target| &target.expr) else {
        return false;
    };
    let known = QUALIFIED.iter().find(|(name, _)| name == space);
    known.is_some_and(|(_, names)| names.contains(&call.func_name.as_str()))
}

/// The variable of a loop.
struct Variable {
    name: String,
    /// The path of the items over which the loop runs, if it is known.
    items: Option<Path>,
}

/// The item of a list that a loop reads.
const ANY_ITEM: PathStep = PathStep::Item {
    number: 0,
    is_optional: false,
};

/// Walks through an expression.
pub(super) struct Check<'a> {
    source: &'a Source,
    /// The variables of the loops around the current part.
    variables: Vec<Variable>,
    depth: usize,
    /// The depth of the deepest part.
    pub(super) deepest: usize,
    pub(super) reads: Vec<Path>,
    /// The same, but of lists only what loops read of their items.
    pub(super) exact_reads: Vec<Path>,
    pub(super) mistakes: Vec<Mistake>,
    /// The patterns of `matches`, in the order of the text.
    pub(super) patterns: Vec<Pattern>,
}

impl<'a> Check<'a> {
    pub(super) fn of(expression: &IdedExpr, source: &'a Source) -> Self {
        let mut check = Self {
            source,
            variables: Vec::new(),
            depth: 0,
            deepest: 0,
            reads: Vec::new(),
            exact_reads: Vec::new(),
            mistakes: Vec::new(),
            patterns: Vec::new(),
        };
        check.part(expression);
        check
    }

    fn part(&mut self, node: &IdedExpr) {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        if self.depth == MAX_DEPTH + 1 {
            let message = format!(
                "an expression can be nested {MAX_DEPTH} deep; each operator in a row counts"
            );
            let range = 0..self.source.text.len();
            self.mistakes.push(Mistake { range, message });
        } else if self.depth <= MAX_DEPTH {
            self.inner(node);
        }
        self.depth -= 1;
    }

    fn inner(&mut self, node: &IdedExpr) {
        if let Some(path) = path(node, self.source) {
            return self.read(path);
        }
        match &node.expr {
            Expr::Select(select) if select.test => self.presence(node.id, select),
            Expr::Select(select) => self.part(&select.operand),
            Expr::Call(call) => self.call(node.id, call),
            Expr::List(list) => list.elements.iter().for_each(|item| self.part(item)),
            Expr::Map(map) => map.entries.iter().for_each(|entry| self.entry(&entry.expr)),
            Expr::Comprehension(one) => self.comprehension(node.id, one),
            Expr::Struct(one) => {
                let range = self.source.name(node.id, &one.type_name);
                let message = format!("there is no type `{}`", one.type_name);
                self.mistakes.push(Mistake { range, message });
            }
            Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    fn read(&mut self, path: Path) {
        self.reads.extend(self.of_scope(&path).cloned());
        self.exact_reads.extend(self.resolved(path));
    }

    /// The path, unless it begins with the variable of a loop.
    fn of_scope<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let mut variables = self.variables.iter();
        let is_variable = variables.any(|variable| variable.name == path.root);
        (!is_variable && !path.root.starts_with('@')).then_some(path)
    }

    /// The path, from the list of the loop whose variable it begins with. `None` if that list is not known.
    fn resolved(&self, path: Path) -> Option<Path> {
        let mut variables = self.variables.iter().rev();
        match variables.find(|variable| variable.name == path.root) {
            Some(variable) => {
                let mut item = variable.items.clone()?;
                item.steps.extend(path.steps);
                Some(item)
            }
            None => self.of_scope(&path).cloned(),
        }
    }

    /// `has(a.b)` reads the path `a.?b`.
    fn presence(&mut self, id: u64, select: &cel::common::ast::SelectExpr) {
        let Some(mut found) = path(&select.operand, self.source) else {
            return self.part(&select.operand);
        };
        found.steps.push(PathStep::Member {
            name: select.field.clone(),
            is_optional: true,
            range: self.source.name(id, &select.field),
        });
        self.read(found);
    }

    fn entry(&mut self, entry: &EntryExpr) {
        if let EntryExpr::MapEntry(entry) = entry {
            self.part(&entry.key);
            self.part(&entry.value);
        }
    }

    fn comprehension(&mut self, id: u64, one: &ComprehensionExpr) {
        // The work of these loops is not in their step, so it cannot be charged.
        if one.iter_var == NO_VARIABLE {
            let start = self.source.function(id, ".").end;
            let name = token(&self.source.text[start..]);
            return self.mistakes.push(Mistake {
                range: start..start + name.len(),
                message: format!("there is no function `{name}`"),
            });
        }
        let list = path(&one.iter_range, self.source);
        match &list {
            Some(list) => self.reads.extend(self.of_scope(list).cloned()),
            None => self.part(&one.iter_range),
        }
        let items = list
            .and_then(|list| self.resolved(list))
            .map(|list| list.with(ANY_ITEM));
        if self.variables.len() == MAX_LOOPS {
            let range = self.source.function(id, ".");
            let message = format!(
                "loops can be nested {MAX_LOOPS} deep, and this one is inside {MAX_LOOPS} others"
            );
            self.mistakes.push(Mistake { range, message });
        }
        let before = self.exact_reads.len();
        self.variables.push(Variable {
            name: one.iter_var.clone(),
            items: items.clone(),
        });
        self.part(&one.loop_step);
        self.variables.pop();
        let reads_items = |items: &Path| {
            let mut reads = self.exact_reads[before..].iter();
            reads.any(|read| read.root == items.root && read.steps.starts_with(&items.steps))
        };
        // Even a loop that does not look at the items reads how many there are.
        self.exact_reads
            .extend(items.filter(|items| !reads_items(items)));
    }

    fn call(&mut self, id: u64, call: &CallExpr) {
        let is_qualified = is_qualified(call);
        if call.func_name == "matches" {
            return self.matches(id, call);
        }
        if !is_qualified {
            self.known(id, call);
            if let Some(target) = &call.target {
                self.part(target);
            }
        }
        call.args.iter().for_each(|argument| self.part(argument));
        if call.func_name == "format" && !call.target.as_deref().is_some_and(is_string) {
            let range = self.source.function(id, "format");
            let message = "`format` needs its text in the expression, as in `'%s'.format([x])`";
            self.mistakes.push(Mistake {
                range,
                message: message.to_owned(),
            });
        }
    }

    fn known(&mut self, id: u64, call: &CallExpr) {
        let name = call.func_name.as_str();
        // Operators are functions with names such as `_+_`.
        if name.contains(|one: char| !one.is_alphanumeric() && one != '_') {
            return;
        }
        let (plain, own) = match call.target {
            Some(_) => (MEMBERS, METHODS),
            None => (GLOBAL, FUNCTIONS),
        };
        let own_one = own.iter().find(|(known, ..)| *known == name);
        let range = self.source.function(id, name);
        if let Some((_, _, counts)) = own_one {
            if !counts.contains(&call.args.len()) {
                let message = format!(
                    "`{name}` takes {}, found {}",
                    count(counts),
                    call.args.len()
                );
                self.mistakes.push(Mistake { range, message });
            }
        } else if !plain.contains(&name) {
            let message = match similar(name, names()) {
                // The parser expands the macros that have the right number of arguments.
                Some("has") if name == "has" => {
                    "`has` takes a member, such as `has(result.x)`".to_owned()
                }
                Some(known) if known == name && MACROS.contains(&name) => format!(
                    "`{name}` is called on a list and takes a name and an expression, as in `list.{name}(item, item.x)`"
                ),
                Some(known) => format!("there is no function `{name}`; there is `{known}`"),
                None => format!("there is no function `{name}`"),
            };
            self.mistakes.push(Mistake { range, message });
        }
    }

    /// Compiles the pattern of `x.matches(pattern)` or `matches(x, pattern)`.
    fn matches(&mut self, id: u64, call: &CallExpr) {
        let (text, pattern) = match (&call.target, call.args.as_slice()) {
            (Some(text), [pattern]) => (&**text, pattern),
            (None, [text, pattern]) => (text, pattern),
            _ => {
                return self.pattern_mistake(
                    id,
                    "expected a pattern as the argument of `matches`".to_owned(),
                );
            }
        };
        self.part(text);
        let Expr::Literal(LiteralValue::String(pattern)) = &pattern.expr else {
            let message = "`matches` needs its pattern in the expression, as in `x.matches('^a')`";
            return self.pattern_mistake(id, message.to_owned());
        };
        match Pattern::new(pattern.inner()) {
            Ok(pattern) => self.patterns.push(pattern),
            Err(error) => {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default();
                let reason = last.strip_prefix("error: ").unwrap_or(last);
                self.pattern_mistake(id, format!("invalid pattern: {reason}"));
            }
        }
    }

    fn pattern_mistake(&mut self, id: u64, message: String) {
        let range = self.source.function(id, "matches");
        self.mistakes.push(Mistake { range, message });
    }
}

fn is_string(node: &IdedExpr) -> bool {
    matches!(node.expr, Expr::Literal(LiteralValue::String(_)))
}

fn count(counts: &std::ops::RangeInclusive<usize>) -> String {
    match (counts.start(), counts.end()) {
        (1, 1) => "1 argument".to_owned(),
        (least, most) if least == most => format!("{least} arguments"),
        (least, most) => format!("{least} to {most} arguments"),
    }
}
