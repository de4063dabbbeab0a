//! The type of the value of an expression, and its mistakes that do not depend on values.

mod functions;
mod reads;

use std::ops::Range;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr,
    operators,
};

use crate::{
    Cel, DEEP, Expression, Mistake, Program,
    as_path::path,
    check::is_qualified,
    functions::{CONTAINS, COST, OPTIONAL},
    on_large_stack,
    parse::token,
    path::{Path, PathStep},
    source::Source,
    types::{Kinds, MAX_JOINS, Member, ObjectType, Others, Type},
};
use reads::Reads;

/// Longer texts are inferred on a thread with a large stack: a path in them may have many members.
const LONG_TEXT: usize = 512;

/// What is known about an expression before a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferred {
    /// The type of its value.
    pub value: Type,
    /// Its mistakes that do not depend on values, in the order of evaluation.
    pub wrong: Vec<Wrong>,
}

/// A part of an expression that is wrong, whatever the values of a call are.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// What is wrong.
    pub mistake: Mistake,
    /// The access, if a value does not have a member.
    pub access: Option<Access>,
}

/// An access to a member of a value that does not have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The path of the value, if it is one. Its root may be the variable of a loop.
    pub path: Option<Path>,
    /// The type of the value: an object with other members, or no object.
    pub found: Type,
    /// The name of the member.
    pub member: String,
}

impl Expression {
    /// The type of the value, and mistakes that do not depend on values. `scope` has the types of the names that the expression
    /// reads. Other names can have any value.
    ///
    /// A part is wrong if it has no value in any call that evaluates it, or if it reads a member that the schema of an object does
    /// not name. Whether a call evaluates the part is not known: it may be an operand of `&&`, or the body of a loop.
    pub fn infer(&self, scope: &[(&str, Type)]) -> Inferred {
        let mut reads = Reads::new(scope);
        let value = match &self.program {
            Program::Path(path) => reads.only(path),
            Program::Cel(cel) => infer(cel, &mut reads),
        };
        let wrong = reads.wrong;
        Inferred { value, wrong }
    }
}

fn infer<'a>(cel: &'a Cel, reads: &mut Reads<'a>) -> Type {
    let mut infer = Infer {
        source: &cel.source,
        reads,
        joins: MAX_JOINS,
    };
    if cel.depth <= DEEP && cel.source.text.len() <= LONG_TEXT {
        return infer.part(&cel.expression);
    }
    on_large_stack(|| infer.part(&cel.expression)).unwrap_or(Type::ANY)
}

/// What loops run over.
const ITERABLE: Kinds = Kinds::LIST.with(Kinds::OBJECT);

struct Infer<'a, 'r> {
    source: &'a Source,
    reads: &'r mut Reads<'a>,
    /// How many parts of types may still be joined.
    joins: usize,
}

impl<'a> Infer<'a, '_> {
    /// The type of a part. It includes absent values if the part is an optional value, even if it is always there.
    fn part(&mut self, node: &'a IdedExpr) -> Type {
        if let Some(path) = path(node, self.source) {
            return self.reads.path(&path);
        }
        match &node.expr {
            Expr::Select(select) => {
                let value = self.part(&select.operand);
                let path = || path(&select.operand, self.source);
                let range = self.source.name(node.id, &select.field);
                let is_optional = select.test || value.may_be_absent();
                let found = (self.reads).member(&value, &select.field, range, path, is_optional);
                if select.test { Type::boolean() } else { found }
            }
            Expr::Call(call) => self.call(node.id, call),
            Expr::List(list) => self.list(list),
            Expr::Map(map) => self.map(map),
            Expr::Comprehension(one) => self.comprehension(node.id, one),
            Expr::Literal(literal) => of_literal(literal),
            Expr::Ident(_) | Expr::Struct(_) | Expr::Unspecified => Type::ANY,
        }
    }

    fn join(&mut self, one: &Type, two: &Type) -> Type {
        one.join(two, &mut self.joins)
    }

    fn wrong(&mut self, range: Range<usize>, message: String) -> Type {
        self.reads.wrong(range, message, None)
    }

    fn list(&mut self, list: &'a ListExpr) -> Type {
        let mut items = Type::never();
        for (number, item) in list.elements.iter().enumerate() {
            let mut item = self.part(item);
            // `[?a]` leaves out an item that is absent.
            if list.optional_indices.contains(&number) {
                item = item.without_absent();
            }
            items = self.join(&items, &item);
        }
        Type::list(items)
    }

    fn map(&mut self, map: &'a MapExpr) -> Type {
        let mut object = ObjectType::new(Vec::new(), Others::None);
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else {
                return Type::ANY;
            };
            let value = self.part(&entry.value);
            let Some(name) = of_string(&entry.key) else {
                self.part(&entry.key);
                object.others = Others::Any;
                continue;
            };
            let member = Member {
                is_required: value.kinds().is_some_and(|kinds| !kinds.has(Kinds::ABSENT)),
                // `{?'a': x}` leaves out a member that is absent.
                value: if entry.optional {
                    value.without_absent()
                } else {
                    value
                },
            };
            object.members.push((name.to_owned(), member));
        }
        Type::of_object(object)
    }

    /// A loop, as the parser expands it: `result` after each turn is `loop_step`.
    fn comprehension(&mut self, id: u64, one: &'a ComprehensionExpr) -> Type {
        let over = self.part(&one.iter_range);
        let item = if over.is_never(ITERABLE) {
            let range = self.macro_name(id);
            let name = &self.source.text[range.clone()];
            let message = format!("`{name}` needs a list, found {over}");
            self.wrong(range, message)
        } else {
            self.item(&over)
        };
        let start = self.part(&one.accu_init);
        self.reads.variables.push((&one.accu_var, start.clone()));
        self.reads.variables.push((&one.iter_var, item));
        let step = self.part(&one.loop_step);
        self.reads.variables.pop();
        self.reads.variables.pop();
        let joined = self.join(&start, &step);
        self.reads.variables.push((&one.accu_var, joined));
        let result = self.part(&one.result);
        self.reads.variables.pop();
        result
    }

    /// What a loop over a value sees: the items of a list, or the names of the members of an object.
    fn item(&mut self, over: &Type) -> Type {
        let Some(kinds) = over.kinds() else {
            return Type::ANY;
        };
        let items = over.optional_items().cloned().unwrap_or(Type::never());
        if kinds.has(Kinds::OBJECT) {
            self.join(&items, &Type::string())
        } else {
            items
        }
    }

    fn call(&mut self, id: u64, call: &'a CallExpr) -> Type {
        let name = call.func_name.as_str();
        match (name, call.args.as_slice()) {
            (COST, [value]) => self.part(value),
            (operators::CONDITIONAL, [condition, then, otherwise]) => {
                self.condition(id, condition);
                let (then, otherwise) = (self.part(then), self.part(otherwise));
                self.join(&then, &otherwise)
            }
            (operators::INDEX | OPTIONAL, [value, key]) => {
                self.access(id, value, key, name == OPTIONAL)
            }
            (operators::NEGATE | operators::LOGICAL_NOT, [value]) => {
                let value = self.part(value);
                self.unary(id, name, &value)
            }
            (_, [left, right]) if call.target.is_none() && symbol(name).is_some() => {
                let types = [self.part(left), self.part(right)];
                let is_whole = is_integer(left) || is_integer(right);
                self.binary(id, name, &types, is_whole)
            }
            _ => self.function(id, call),
        }
    }

    fn condition(&mut self, id: u64, condition: &'a IdedExpr) {
        let found = self.part(condition);
        if !found.is_never(Kinds::BOOLEAN) {
            return;
        }
        let range = match self.source.symbol(id, "?") {
            Some(range) => range,
            // `filter`, for example, is expanded to a condition.
            None => self.macro_name(id),
        };
        let name = &self.source.text[range.clone()];
        let message = format!("`{name}` needs true or false, found {found}");
        self.wrong(range, message);
    }

    /// `value[key]` or `value[?key]`, if it is not a part of a path.
    fn access(
        &mut self,
        id: u64,
        value: &'a IdedExpr,
        key: &'a IdedExpr,
        is_optional: bool,
    ) -> Type {
        let found = self.part(value);
        self.part(key);
        let may_be_absent = is_optional || found.may_be_absent();
        let is_list = |kinds: Kinds| !kinds.without(Kinds::LIST.with(Kinds::ABSENT)).has_any();
        let found = if let Some(name) = of_string(key) {
            let range = self.source.name(id, name);
            let path = || path(value, self.source);
            self.reads.member(&found, name, range, path, may_be_absent)
        } else if found.kinds().is_some_and(is_list) {
            reads::item(&found, may_be_absent)
        } else {
            Type::ANY
        };
        if is_optional {
            found.or_absent()
        } else {
            found
        }
    }

    fn unary(&mut self, id: u64, name: &str, value: &Type) -> Type {
        let (symbol, takes) = match name {
            operators::NEGATE => ("-", Kinds::NUMBER),
            _ => ("!", Kinds::BOOLEAN),
        };
        if value.is_never(takes) {
            let range = self.source.name(id, symbol);
            return self.wrong(range, format!("`{symbol}` does not take {value}"));
        }
        Type::from(value.kinds().unwrap_or(takes).and(takes))
    }

    /// An operator with two operands. `is_whole` says whether one of them is written as an integer.
    fn binary(&mut self, id: u64, name: &str, types: &[Type; 2], is_whole: bool) -> Type {
        let [left, right] = types;
        let pairs: &[_] = match name {
            operators::EQUALS | operators::NOT_EQUALS => return Type::boolean(),
            // One operand may decide, whatever the other one is.
            operators::LOGICAL_AND | operators::LOGICAL_OR => {
                &[(Kinds::BOOLEAN, Kinds::JSON), (Kinds::JSON, Kinds::BOOLEAN)]
            }
            operators::IN | CONTAINS => &[(Kinds::JSON, ITERABLE)],
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS => &[
                (Kinds::NUMBER, Kinds::NUMBER),
                (Kinds::STRING, Kinds::STRING),
                (Kinds::BOOLEAN, Kinds::BOOLEAN),
            ],
            operators::ADD => &[
                (Kinds::NUMBER, Kinds::NUMBER),
                (Kinds::STRING, Kinds::STRING),
                (Kinds::LIST, ITERABLE),
            ],
            _ => &[(Kinds::NUMBER, Kinds::NUMBER)],
        };
        let taken = |(one, two): &&(Kinds, Kinds)| !left.is_never(*one) && !right.is_never(*two);
        let taken: Vec<_> = pairs.iter().filter(taken).collect();
        if taken.is_empty() {
            return self.never_takes(id, symbol(name).unwrap_or(name), types);
        }
        match name {
            operators::ADD if left.kinds().is_none() || right.kinds().is_none() => Type::ANY,
            operators::ADD
            | operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO => {
                let kinds = taken.iter().map(|(left, _)| *left);
                self.calculated(
                    name,
                    types,
                    kinds.fold(Kinds::default(), Kinds::with),
                    is_whole,
                )
            }
            _ => Type::boolean(),
        }
    }

    /// The type of a sum, a product and so on, if the left operand has one of the kinds `taken`.
    fn calculated(&mut self, name: &str, types: &[Type; 2], taken: Kinds, is_whole: bool) -> Type {
        let fraction = Kinds::NUMBER.without(Kinds::INTEGER);
        let may_be_fraction = |one: &Type| one.kinds().is_none_or(|kinds| kinds.has(fraction));
        let number = match name {
            operators::MODULO => Kinds::INTEGER,
            // An integer of JSON may be 1.0, and half of that is not an integer.
            operators::DIVIDE if !is_whole => Kinds::NUMBER,
            _ if types.iter().any(may_be_fraction) => Kinds::NUMBER,
            _ => Kinds::INTEGER,
        };
        let mut found = Type::from(taken.and(number.with(Kinds::STRING)));
        if taken.has(Kinds::LIST) {
            let [left, right] = types.each_ref().map(|one| self.item(one));
            let items = self.join(&left, &right);
            found = self.join(&found, &Type::list(items));
        }
        found
    }

    fn never_takes(&mut self, id: u64, symbol: &str, types: &[Type; 2]) -> Type {
        let is = |one: &Type, kinds| one.kinds().is_some_and(|own| own.has(kinds));
        let has_text = types.iter().any(|one| is(one, Kinds::STRING));
        let are_scalar = types.iter().all(|one| is(one, Kinds::SCALAR));
        let hint = if symbol == "+" && has_text && are_scalar {
            ": write `string(…)`"
        } else {
            ""
        };
        let known: Vec<_> = types
            .iter()
            .filter(|one| one.kinds().is_some())
            .map(Type::to_string)
            .collect();
        let message = format!("`{symbol}` does not take {}{hint}", known.join(" and "));
        self.wrong(self.source.name(id, symbol), message)
    }

    /// Whether a value is certainly not optional: a path without `?` reads it, and its type is known and never absent.
    fn is_plain(&self, value: Option<&IdedExpr>, found: &Type) -> bool {
        let value = value.map(|value| match &value.expr {
            Expr::Call(call) if call.func_name == COST => &call.args[0],
            _ => value,
        });
        let path = value.and_then(|value| path(value, self.source));
        let is_known = found.kinds().is_some() && !found.may_be_absent();
        is_known && path.is_some_and(|path| !path.steps.iter().any(PathStep::is_optional))
    }

    fn function(&mut self, id: u64, call: &'a CallExpr) -> Type {
        let name = call.func_name.trim_start_matches('@');
        let target = call.target.as_deref().filter(|_| !is_qualified(call));
        let arguments = target.into_iter().chain(&call.args);
        let types: Vec<_> = arguments.map(|argument| self.part(argument)).collect();
        let Some(first) = types.first() else {
            return match name {
                "none" => Type::never().or_absent(),
                _ => Type::ANY,
            };
        };
        match (name, types.get(1)) {
            ("dyn", _) => return first.clone(),
            // An optional value of an optional value is not modelled.
            ("of" | "ofNonZeroValue", _) if first.may_be_absent() => return Type::ANY,
            ("of" | "ofNonZeroValue", _) => return first.clone().or_absent(),
            ("value", _) => return first.clone().without_absent(),
            ("or" | "orValue", Some(_)) if self.is_plain(target, first) => {
                let range = self.source.function(id, name);
                let message = format!(
                    "`{name}` needs a value that may be absent: write `.?` before its last name"
                );
                return self.wrong(range, message);
            }
            ("or" | "orValue", Some(other)) => {
                let first = first.clone().without_absent();
                return self.join(&first, other);
            }
            _ => {}
        }
        let Some(function) = functions::find(name) else {
            return Type::ANY;
        };
        if first.is_never(function.takes) {
            let range = self.source.function(id, name);
            return self.wrong(range, format!("`{name}` does not take {first}"));
        }
        match function.gives {
            None => Type::ANY,
            Some(Kinds::LIST) => Type::list(Type::string()),
            Some(kinds) => Type::from(kinds),
        }
    }

    /// The name of a macro, such as `filter`.
    fn macro_name(&self, id: u64) -> Range<usize> {
        let start = self.source.function(id, ".").end;
        let length = token(&self.source.text[start..]).len();
        start..start + length
    }
}

/// How an operator with two operands is written.
fn symbol(name: &str) -> Option<&str> {
    match name {
        operators::IN | CONTAINS => Some("in"),
        _ => name.strip_prefix('_')?.strip_suffix('_'),
    }
}

fn of_string(node: &IdedExpr) -> Option<&str> {
    match &node.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}

fn is_integer(node: &IdedExpr) -> bool {
    let Expr::Literal(literal) = &node.expr else {
        return false;
    };
    matches!(literal, LiteralValue::Int(_) | LiteralValue::UInt(_))
}

fn of_literal(literal: &LiteralValue) -> Type {
    match literal {
        LiteralValue::Null => Type::null(),
        LiteralValue::Boolean(_) => Type::boolean(),
        LiteralValue::Int(_) | LiteralValue::UInt(_) => Type::integer(),
        LiteralValue::Double(_) => Type::number(),
        LiteralValue::String(_) => Type::string(),
        LiteralValue::Bytes(_) => Type::ANY,
    }
}

#[cfg(test)]
mod tests;
