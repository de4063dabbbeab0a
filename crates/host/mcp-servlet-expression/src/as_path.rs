//! Expressions that are paths.

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use crate::{
    functions::OPTIONAL,
    path::{Path, PathStep},
    source::Source,
};

/// The path that an expression consists of, also after it was rewritten.
pub(super) fn path(node: &IdedExpr, source: &Source) -> Option<Path> {
    match &node.expr {
        Expr::Ident(name) => Some(Path {
            root: name.clone(),
            range: source.name(node.id, name),
            steps: Vec::new(),
        }),
        Expr::Select(select) if !select.test => {
            let range = source.name(node.id, &select.field);
            let step = PathStep::Member {
                name: select.field.clone(),
                is_optional: false,
                range,
            };
            Some(path(&select.operand, source)?.with(step))
        }
        Expr::Call(call) => {
            let step = step(node.id, call, source)?;
            Some(path(&call.args[0], source)?.with(step))
        }
        _ => None,
    }
}

/// The step of `a.?b`, `a["b"]`, `a[?"b"]` or `a[0]`.
fn step(id: u64, call: &CallExpr, source: &Source) -> Option<PathStep> {
    let is_optional = match call.func_name.as_str() {
        operators::INDEX => false,
        operators::OPT_INDEX | operators::OPT_SELECT | OPTIONAL => true,
        _ => return None,
    };
    match &call.args.get(1)?.expr {
        Expr::Literal(LiteralValue::String(name)) => Some(PathStep::Member {
            name: name.inner().to_owned(),
            is_optional,
            range: source.name(id, name.inner()),
        }),
        Expr::Literal(LiteralValue::Int(number)) => Some(PathStep::Item {
            number: usize::try_from(*number.inner()).ok()?,
            is_optional,
        }),
        _ => None,
    }
}
