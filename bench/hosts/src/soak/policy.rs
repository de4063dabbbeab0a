//! Random rules, and a second evaluator of them, which shares nothing with the server.

use serde_json::Value;

/// The tool of the remote.
pub(super) const REMOTE_TOOL: &str = "wait";

/// The tools of the endpoint.
pub(super) const TOOLS: [&str; 4] = ["greet", "spin", "pay", REMOTE_TOOL];

/// Random numbers that are the same in each run with the same seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % end
    }

    pub(super) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    pub(super) fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }
}

/// A person with tokens.
pub(super) struct Person {
    pub(super) subject: &'static str,
    pub(super) scope: &'static str,
    pub(super) roles: &'static [&'static str],
    pub(super) tenant: Option<&'static str>,
}

pub(super) const PEOPLE: [Person; 5] = [
    person("ann", "mcp pay", &["admin"], Some("a")),
    person("bob", "mcp pay", &[], Some("b")),
    person("cid", "mcp", &[], Some("a")),
    person("dan", "mcp", &["admin"], None),
    // Lacks the scope that the endpoint needs.
    person("eve", "pay", &["admin"], Some("a")),
];

const fn person(
    subject: &'static str,
    scope: &'static str,
    roles: &'static [&'static str],
    tenant: Option<&'static str>,
) -> Person {
    Person {
        subject,
        scope,
        roles,
        tenant,
    }
}

impl Person {
    pub(super) fn has_scope(&self, wanted: &str) -> bool {
        self.scope.split(' ').any(|scope| scope == wanted)
    }
}

/// The value of a condition.
#[derive(Clone, Copy, PartialEq)]
enum Truth {
    True,
    False,
    /// It depends on arguments that are not known yet.
    Unknown,
    /// It reads something that is absent.
    Error,
}

impl From<bool> for Truth {
    fn from(is_true: bool) -> Self {
        if is_true { Self::True } else { Self::False }
    }
}

/// What a rule asks of arguments, or of its caller and its tool.
#[derive(Clone, Copy, Debug)]
enum Condition {
    None,
    MostAmount(i64),
    LeastAmount(i64),
    /// Optional texts for `to`, which may be absent.
    ToIs(&'static str),
    LongestName(usize),
    IsAdmin,
    IsNoAdmin,
    OfTenant(&'static str),
    AmountOver(i64),
    /// The caller is `ann`, or the amount is small.
    AnnOrBelow(i64),
}

/// The conditions that read arguments of the tool `pay`.
const OF_PAY: [fn(i64) -> Condition; 5] = [
    Condition::MostAmount,
    Condition::LeastAmount,
    |_| Condition::ToIs("x"),
    Condition::AmountOver,
    Condition::AnnOrBelow,
];

/// The conditions that hold for any tool.
const OF_ALL: [Condition; 5] = [
    Condition::None,
    Condition::IsAdmin,
    Condition::IsNoAdmin,
    Condition::OfTenant("a"),
    Condition::OfTenant("b"),
];

impl Condition {
    /// Its key of a rule.
    fn text(self) -> String {
        let when = |cel: &str| format!("when = \"${{{{ {cel} }}}}\"\n");
        match self {
            Self::None => String::new(),
            Self::MostAmount(most) => {
                format!("arguments = {{ amount = {{ maximum = {most} }} }}\n")
            }
            Self::LeastAmount(least) => {
                format!("arguments = {{ amount = {{ minimum = {least} }} }}\n")
            }
            Self::ToIs(text) => format!("arguments = {{ \"to?\" = {{ const = \"{text}\" }} }}\n"),
            Self::LongestName(most) => {
                format!("arguments = {{ name = {{ maxLength = {most} }} }}\n")
            }
            Self::IsAdmin => when("'admin' in caller.roles"),
            Self::IsNoAdmin => when("!('admin' in caller.roles)"),
            Self::OfTenant(tenant) => when(&format!("caller.claims.tenant == '{tenant}'")),
            Self::AmountOver(amount) => when(&format!("arguments.amount > {amount}")),
            Self::AnnOrBelow(amount) => when(&format!(
                "caller.subject == 'ann' || arguments.amount < {amount}"
            )),
        }
    }

    /// Its value for a call, or for a list, where arguments are unknown.
    fn value(self, caller: &Person, arguments: Option<&Value>) -> Truth {
        let by_arguments = |holds: &dyn Fn(&Value) -> bool| match arguments {
            Some(arguments) => Truth::from(holds(arguments)),
            None => Truth::Unknown,
        };
        let amount = |arguments: &Value| arguments["amount"].as_i64().unwrap_or_default();
        match self {
            Self::None => Truth::True,
            Self::MostAmount(most) => by_arguments(&|arguments| amount(arguments) <= most),
            Self::LeastAmount(least) => by_arguments(&|arguments| amount(arguments) >= least),
            Self::AmountOver(limit) => by_arguments(&|arguments| amount(arguments) > limit),
            Self::ToIs(text) => by_arguments(&|arguments| {
                arguments
                    .get("to")
                    .is_none_or(|to| to.as_str() == Some(text))
            }),
            Self::LongestName(most) => by_arguments(&|arguments| {
                arguments["name"].as_str().unwrap_or_default().len() <= most
            }),
            Self::AnnOrBelow(_) if caller.subject == "ann" => Truth::True,
            Self::AnnOrBelow(limit) => by_arguments(&|arguments| amount(arguments) < limit),
            Self::IsAdmin => Truth::from(caller.roles.contains(&"admin")),
            Self::IsNoAdmin => Truth::from(!caller.roles.contains(&"admin")),
            Self::OfTenant(tenant) => match caller.tenant {
                Some(own) => Truth::from(own == tenant),
                None => Truth::Error,
            },
        }
    }
}

#[derive(Clone, Debug)]
struct Rule {
    is_deny: bool,
    pattern: &'static str,
    /// Only with `allow`.
    needs_pay: bool,
    condition: Condition,
}

impl Rule {
    fn random(random: &mut Random) -> Self {
        let limit = i64::try_from(10 * (1 + random.below(9))).unwrap_or_default();
        let (pattern, condition) = match random.below(3) {
            0 => ("pay", random.one_of(&OF_PAY)(limit)),
            1 => ("greet", Condition::LongestName(1 + random.below(6))),
            _ => {
                let patterns = ["greet", "spin", "pay", REMOTE_TOOL, "*", "s*", "*a*"];
                (*random.one_of(&patterns), *random.one_of(&OF_ALL))
            }
        };
        let is_deny = random.one_in(3);
        Self {
            is_deny,
            pattern,
            needs_pay: !is_deny && random.one_in(4),
            condition,
        }
    }

    fn text(&self) -> String {
        let what = if self.is_deny { "deny" } else { "allow" };
        let scopes = if self.needs_pay {
            "scopes = [\"pay\"]\n"
        } else {
            ""
        };
        format!(
            "[[endpoint.main.rules]]\n{what} = [\"{}\"]\n{scopes}{}",
            self.pattern,
            self.condition.text()
        )
    }

    fn names(&self, tool: &str) -> bool {
        match self.pattern {
            "*" => true,
            "s*" => tool.starts_with('s'),
            "*a*" => tool.contains('a'),
            name => name == tool,
        }
    }

    fn value(&self, caller: &Person, tool: &str, arguments: Option<&Value>) -> Truth {
        let is_about = self.names(tool) && (!self.needs_pay || caller.has_scope("pay"));
        if is_about {
            self.condition.value(caller, arguments)
        } else {
            Truth::False
        }
    }
}

/// The rules of an endpoint.
#[derive(Clone, Debug)]
pub(super) struct Policy(Vec<Rule>);

impl Policy {
    pub(super) fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(6);
        Self((0..count).map(|_| Rule::random(random)).collect())
    }

    pub(super) fn text(&self) -> String {
        self.0.iter().map(Rule::text).collect()
    }

    /// Whether a caller may make a call.
    pub(super) fn allows(&self, caller: &Person, tool: &str, arguments: &Value) -> bool {
        for rule in &self.0 {
            match rule.value(caller, tool, Some(arguments)) {
                Truth::True => return !rule.is_deny,
                Truth::Error if rule.is_deny => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether a caller sees a tool: whether some call of it could be allowed.
    pub(super) fn lists(&self, caller: &Person, tool: &str) -> bool {
        for rule in &self.0 {
            match (rule.is_deny, rule.value(caller, tool, None)) {
                (false, Truth::True | Truth::Unknown) => return true,
                (true, Truth::True | Truth::Error) => return false,
                _ => {}
            }
        }
        false
    }
}
