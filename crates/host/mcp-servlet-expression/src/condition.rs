//! Boolean expressions that can be evaluated before all variables are known.

use std::{ops::Range, sync::Arc};

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use crate::{
    Budget, Expression, Failure, Mistake, Path, Scope, as_path::path, check::Check, on_large_stack,
    optional, parse, source::Source,
};

/// A boolean expression.
///
/// Each operand of `&&`, `||`, `!` and `?:` has its own [`Truth`]. An operand that reads an unknown variable is [`Truth::Unknown`]. The
/// known operands may decide without it.
#[derive(Clone, Debug)]
pub struct Condition {
    text: String,
    root: Node,
    /// Comparisons of a path with a literal.
    pub comparisons: Vec<Comparison>,
    /// The bytes of the expression in the text.
    pub range: Range<usize>,
}

/// A comparison of a path with a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The path.
    pub path: Path,
    /// The JSON type of the literal.
    pub literal: &'static str,
}

/// The value of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It does not hold.
    False,
    /// It holds.
    True,
    /// It depends on something that is not known.
    Unknown,
    /// It has no value.
    Failed(Failure),
}

#[derive(Clone, Debug)]
enum Node {
    /// A part without logical operators, and the JSON type of its value if the text alone tells.
    Leaf(Expression, Option<&'static str>),
    Not(Box<Node>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    If(Box<[Node; 3]>),
}

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

const ONE_EXPRESSION: &str = "expected one expression, such as \"${{ 'admin' in caller.roles }}\"";

impl Condition {
    /// Compiles a string that is one expression: `${{ … }}`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Vec<Mistake>> {
        let mistake = |message: &str| {
            vec![Mistake {
                range: 0..text.len(),
                message: message.to_owned(),
            }]
        };
        let inner = text
            .strip_prefix("${{")
            .and_then(|text| text.strip_suffix("}}"))
            .ok_or_else(|| mistake(ONE_EXPRESSION))?;
        let start = "${{".len();
        let compiled = on_large_stack(|| compile(inner))
            .unwrap_or_else(|_| Err(mistake("cannot start a thread to parse the expression")));
        let (root, comparisons) = compiled.map_err(|mistakes| {
            let moved = mistakes.into_iter().map(|one| one.moved(start));
            moved.collect::<Vec<_>>()
        })?;
        Ok(Self {
            text: text.to_owned(),
            root,
            comparisons,
            range: start..start + inner.len(),
        })
    }

    /// The paths that it reads.
    pub fn reads(&self) -> Vec<&Path> {
        let mut reads = Vec::new();
        self.root.each(&mut |leaf, _| reads.extend(&leaf.reads));
        reads
    }

    /// The JSON type of the first operand that is not a boolean.
    pub fn other_type(&self) -> Option<&'static str> {
        let mut other = None;
        self.root.each(&mut |_, kind| {
            other = other.or(kind.filter(|kind| *kind != "boolean"));
        });
        other
    }

    /// The operands whose type is not known: their paths, or None for other expressions.
    pub fn untyped(&self) -> Vec<Option<&Path>> {
        let mut untyped = Vec::new();
        self.root.each(&mut |leaf, kind| {
            untyped.extend(kind.is_none().then(|| leaf.path()));
        });
        untyped
    }

    /// Evaluates the condition.
    pub fn evaluate(&self, scope: &Scope<'_>, budget: &mut Budget) -> Truth {
        self.root.evaluate(scope, budget)
    }
}

fn compile(text: &str) -> Result<(Node, Vec<Comparison>), Vec<Mistake>> {
    let (expression, info) = parse::parse(text).map_err(|mistake| vec![mistake])?;
    let source = Arc::new(Source::new(text, info));
    let check = Check::of(&expression, &source);
    if !check.mistakes.is_empty() {
        return Err(check.mistakes);
    }
    let mut comparisons = Vec::new();
    let root = Node::of(expression, &source, &mut comparisons)?;
    Ok((root, comparisons))
}

impl Node {
    fn of(
        node: IdedExpr,
        source: &Arc<Source>,
        comparisons: &mut Vec<Comparison>,
    ) -> Result<Self, Vec<Mistake>> {
        let call = match node.expr {
            Expr::Call(call) if is_logical(&call) => call,
            expr => {
                let node = IdedExpr { id: node.id, expr };
                let mistakes = optional::mistakes(&node, source);
                if !mistakes.is_empty() {
                    return Err(mistakes);
                }
                comparisons.extend(comparison(&node, source));
                let kind = kind(&node);
                return Ok(Self::Leaf(Expression::compile(node, source)?, kind));
            }
        };
        let mut operands = Vec::new();
        for operand in call.args {
            operands.push(Self::of(operand, source, comparisons)?);
        }
        Ok(match <[Self; 3]>::try_from(operands) {
            Ok(three) => Self::If(Box::new(three)),
            Err(operands) => match <[Self; 2]>::try_from(operands) {
                Ok(two) if call.func_name == operators::LOGICAL_AND => Self::And(Box::new(two)),
                Ok(two) => Self::Or(Box::new(two)),
                Err(mut operands) => Self::Not(Box::new(operands.remove(0))),
            },
        })
    }

    fn each<'n>(&'n self, visit: &mut dyn FnMut(&'n Expression, Option<&'static str>)) {
        match self {
            Self::Leaf(leaf, kind) => visit(leaf, *kind),
            Self::Not(one) => one.each(visit),
            Self::And(two) | Self::Or(two) => two.iter().for_each(|one| one.each(visit)),
            Self::If(three) => three.iter().for_each(|one| one.each(visit)),
        }
    }

    fn evaluate(&self, scope: &Scope<'_>, budget: &mut Budget) -> Truth {
        match self {
            Self::Leaf(leaf, _) => of_leaf(leaf, scope, budget),
            Self::Not(one) => one.evaluate(scope, budget).not(),
            Self::And(two) => either(two, Truth::False, scope, budget),
            Self::Or(two) => either(two, Truth::True, scope, budget),
            Self::If(three) => {
                let [condition, then, otherwise] = &**three;
                match condition.evaluate(scope, budget) {
                    Truth::True => then.evaluate(scope, budget),
                    Truth::False => otherwise.evaluate(scope, budget),
                    other => other,
                }
            }
        }
    }
}

fn of_leaf(leaf: &Expression, scope: &Scope<'_>, budget: &mut Budget) -> Truth {
    let is_missing = |path: &Path| scope.root(&path.root).is_none();
    if leaf.reads.iter().any(is_missing) {
        return Truth::Unknown;
    }
    match leaf.run(scope, budget) {
        Ok(Some(serde_json::Value::Bool(true))) => Truth::True,
        Ok(Some(serde_json::Value::Bool(false))) => Truth::False,
        Ok(Some(_)) => Truth::Failed(Failure::Type),
        Ok(None) => Truth::Failed(Failure::Absent),
        Err(failure) => Truth::Failed(failure),
    }
}

/// Combines two operands of `&&` or `||`. `decides` is the value with which one operand is enough.
fn either(two: &[Node; 2], decides: Truth, scope: &Scope<'_>, budget: &mut Budget) -> Truth {
    let first = two[0].evaluate(scope, budget);
    if first == decides {
        return decides;
    }
    match (first, two[1].evaluate(scope, budget)) {
        (_, second) if second == decides => decides,
        (Truth::Unknown, _) | (_, Truth::Unknown) => Truth::Unknown,
        (failed @ Truth::Failed(_), _) | (_, failed) => failed,
    }
}

impl Truth {
    fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            other => other,
        }
    }
}

fn is_logical(call: &CallExpr) -> bool {
    const LOGICAL: [&str; 4] = [
        operators::LOGICAL_AND,
        operators::LOGICAL_OR,
        operators::LOGICAL_NOT,
        operators::CONDITIONAL,
    ];
    LOGICAL.contains(&call.func_name.as_str())
}

const COMPARES: [&str; 6] = [
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::LESS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::GREATER_EQUALS,
];

/// The comparison of a path with a literal.
fn comparison(node: &IdedExpr, source: &Source) -> Option<Comparison> {
    let Expr::Call(call) = &node.expr else {
        return None;
    };
    let [left, right] = call.args.as_slice() else {
        return None;
    };
    if !COMPARES.contains(&call.func_name.as_str()) {
        return None;
    }
    let of = |path_of: &IdedExpr, literal: &IdedExpr| {
        let literal = literal_kind(literal)?;
        let path = path(path_of, source)?;
        Some(Comparison { path, literal })
    };
    of(left, right).or_else(|| of(right, left))
}

fn literal_kind(node: &IdedExpr) -> Option<&'static str> {
    let Expr::Literal(literal) = &node.expr else {
        return None;
    };
    Some(match literal {
        LiteralValue::Boolean(_) => "boolean",
        LiteralValue::Int(_) | LiteralValue::UInt(_) | LiteralValue::Double(_) => "number",
        LiteralValue::String(_) => "string",
        LiteralValue::Null => "null",
        LiteralValue::Bytes(_) => return None,
    })
}

/// The JSON type of an expression, if its operator or function determines it.
fn kind(node: &IdedExpr) -> Option<&'static str> {
    const BOOLEAN: [&str; 7] = [
        operators::IN,
        "bool",
        "contains",
        "endsWith",
        "hasValue",
        "matches",
        "startsWith",
    ];
    const STRING: [&str; 8] = [
        "charAt",
        "format",
        "join",
        "lowerAscii",
        "replace",
        "string",
        "text",
        "upperAscii",
    ];
    const NUMBER: [&str; 9] = [
        operators::SUBSTRACT,
        operators::MULTIPLY,
        operators::DIVIDE,
        operators::MODULO,
        operators::NEGATE,
        "double",
        "indexOf",
        "int",
        "size",
    ];
    match &node.expr {
        Expr::Literal(_) => literal_kind(node),
        Expr::List(_) => Some("array"),
        Expr::Map(_) => Some("object"),
        Expr::Select(select) if select.test => Some("boolean"),
        Expr::Call(call) => {
            let name = call.func_name.as_str();
            let is = |names: &[&str]| names.contains(&name);
            if is(&COMPARES) || is(&BOOLEAN) {
                Some("boolean")
            } else if is(&STRING) {
                Some("string")
            } else if is(&NUMBER) {
                Some("number")
            } else {
                None
            }
        }
        Expr::Comprehension(one) => match &one.loop_step.expr {
            Expr::Call(step) if is_logical(step) && step.func_name != operators::CONDITIONAL => {
                Some("boolean")
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Part;

    fn condition(text: &str) -> Condition {
        let text = format!("${{{{ {text} }}}}");
        Condition::parse(&text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
    }

    /// What a condition says without `arguments`, and with these.
    fn evaluated(text: &str, arguments: &Value) -> [Truth; 2] {
        let caller = json!({ "roles": ["dev"], "subject": "ann" });
        let condition = condition(text);
        let scope = Scope::default().with("caller", Part::Json(&caller));
        let known = scope.clone().with("arguments", Part::Json(arguments));
        [scope, known].map(|scope| condition.evaluate(&scope, &mut Budget::default()))
    }

    #[test]
    fn what_reads_arguments_is_unknown_without_them() {
        use Truth::{Failed, False, True, Unknown};
        let arguments = json!({ "n": 5, "s": "x" });
        for (text, expected) in [
            ("'dev' in caller.roles", [True, True]),
            ("!('dev' in caller.roles)", [False, False]),
            ("arguments.n > 3", [Unknown, True]),
            ("arguments.n > 3 && caller.subject == 'bob'", [False, False]),
            ("arguments.n > 9 || caller.subject == 'ann'", [True, True]),
            ("!(arguments.n > 9)", [Unknown, True]),
            (
                "caller.subject == 'ann' ? arguments.n > 9 : true",
                [Unknown, False],
            ),
            ("arguments.n > 3 ? true : true", [Unknown, True]),
            ("[1].all(x, x < arguments.n)", [Unknown, True]),
            ("caller.none == 1", [Failed(Failure::Absent); 2]),
            ("caller.none == 1 && arguments.n > 9", [Unknown, False]),
            (
                "arguments.none == 1 || caller.subject == 'ann'",
                [True, True],
            ),
            (
                "arguments.none == 1 || caller.subject == 'bob'",
                [Unknown, Failed(Failure::Absent)],
            ),
            ("arguments.s < 5", [Unknown, Failed(Failure::Type)]),
            ("caller.subject", [Failed(Failure::Type); 2]),
        ] {
            assert_eq!(evaluated(text, &arguments), expected, "{text}");
        }
    }

    #[test]
    fn the_text_tells_some_types() {
        for (text, other, untyped) in [
            ("1 < 2 && 'a'.startsWith('b')", None, 0),
            ("has(caller.x) || [1].exists(x, x == 1)", None, 0),
            ("'text'", Some("string"), 0),
            ("1 + 2 * 3", None, 1),
            ("2 * 3", Some("number"), 0),
            ("caller.subject", None, 1),
            ("[1]", Some("array"), 0),
            ("[1].map(x, x)", None, 1),
            ("true && size('a')", Some("number"), 0),
        ] {
            let condition = condition(text);
            assert_eq!(condition.other_type(), other, "{text}");
            assert_eq!(condition.untyped().len(), untyped, "{text}");
        }
        let condition = condition("arguments.n > '5' && 5.0 == arguments.to.m");
        let kinds = condition.comparisons.iter().map(|one| one.literal);
        assert_eq!(kinds.collect::<Vec<_>>(), ["string", "number"]);
    }

    #[test]
    fn an_optional_value_needs_a_default() {
        for (text, place) in [
            ("arguments.?mode == 'danger'", "mode"),
            ("true && 'danger' != arguments.?mode", "mode"),
            ("arguments[?'mode'] in ['danger']", "mode"),
            ("'danger' in arguments.?modes", "modes"),
            ("arguments.?to.mode == 'danger'", "to"),
            ("arguments.to[?0].mode == 'danger'", ""),
            ("arguments.list.exists(one, one.?mode == 'danger')", "mode"),
            ("'danger' in [arguments.?mode]", "mode"),
            ("{'a': arguments.?mode} == {'a': 'danger'}", "mode"),
            ("arguments.list.map(one, one.?mode) == ['danger']", "mode"),
            ("dyn(arguments.?mode) == 'danger'", "mode"),
            ("(true ? arguments.?mode : 'a') == 'danger'", "mode"),
            ("arguments.mode == optional.of('danger')", ""),
            ("arguments.?a.or(arguments.?b) == 'danger'", ""),
            ("arguments.?a.orValue(arguments.?b) == 'danger'", "b"),
            ("arguments.?mode.startsWith('danger')", "mode"),
            ("arguments.?list.exists(one, one == 'danger')", "list"),
            ("size(arguments.?list) > 5", "list"),
            ("arguments.?n > 5", "n"),
        ] {
            let text = format!("${{{{ {text} }}}}");
            let found = Condition::parse(&text).expect_err(&text);
            assert!(
                found[0].message.contains("`.orValue(…)`"),
                "{text}: {found:?}"
            );
            let found = &text[found[0].range.clone()];
            assert!(found == place || place.is_empty(), "{text}: {found}");
        }
        let arguments = json!({ "to": { "mode": "danger" }, "is": true });
        for text in [
            "arguments.?to.mode.orValue('') == 'danger'",
            "arguments.?gone.or(arguments.to.?mode).value() == 'danger'",
            "arguments.?to.hasValue() && has(arguments.?to.mode) && arguments.?is",
            "[{'mode': 'danger'}].exists(one, one.?mode.orValue('') == 'danger')",
        ] {
            assert_eq!(evaluated(text, &arguments)[1], Truth::True, "{text}");
        }
    }

    #[test]
    fn mistakes_have_their_place_in_the_whole_text() {
        for (text, range, message) in [
            ("caller.x", 0..8, ONE_EXPRESSION),
            (
                "${{ a }} ${{ b }}",
                6..8,
                "invalid expression: unexpected `}}`",
            ),
            (
                "${{ caller.x.frob() }}",
                13..17,
                "there is no function `frob`",
            ),
        ] {
            let found = Condition::parse(text).expect_err(text);
            let mistake = &found[0];
            assert!(mistake.message.starts_with(message), "{text}: {mistake:?}");
            assert_eq!(mistake.range, range, "{text}");
        }
    }
}
