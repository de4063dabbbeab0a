//! Quotas of endpoints: what a file says about them, checked.

use mcp_servlet_call::Limit;
use mcp_servlet_host::Entry;
use mcp_servlet_server::{
    Endpoint,
    quota::{Quota, Rate},
    rules::Pattern,
};
use toml::Spanned;

use super::{
    Problem, Reader,
    file::{File, QuotaSection},
    table::Table,
};

impl Reader<'_> {
    /// Reads the quotas of all endpoints.
    pub(super) fn quotas(&mut self, file: &File, endpoints: &mut [Endpoint], entries: &[Entry]) {
        for endpoint in endpoints {
            let Some(section) = file.endpoint.get(&endpoint.name) else {
                continue;
            };
            for table in &section.get_ref().quota {
                self.uncounted_fuel(endpoint, entries, table.get_ref());
                let quota = self.quota(table);
                endpoint.options.quotas.push(quota);
            }
        }
    }

    fn quota(&mut self, spanned: &Spanned<Table<QuotaSection>>) -> Quota {
        let table = spanned.get_ref();
        let calls = self.rate(table.calls.as_ref(), "`60/m`, `10/s` or `1000/h`");
        let bytes = self.rate(table.bytes.as_ref(), "`10MiB/m` or `1GiB/h`");
        let fuel = self.rate(table.fuel.as_ref(), "`1e12/h`");
        if let Some(burst) = table.burst.as_ref().filter(|_| table.calls.is_none()) {
            self.problem(burst.span(), "`burst` needs `calls`".to_owned());
        }
        let limits = [&table.calls, &table.bytes, &table.fuel];
        // The keys of a quota that cannot be read are missing here.
        let is_in = |problem: &Problem| spanned.span().contains(&problem.span.start);
        let is_empty = table.running.is_none() && limits.iter().all(|limit| limit.is_none());
        if is_empty && !self.problems.iter().any(is_in) {
            let message = "missing key: a quota needs `calls`, `running`, `bytes` or `fuel`";
            self.problem(spanned.span(), message.to_owned());
        }
        let tool = table.tool.as_ref();
        Quota {
            per: table.per.into(),
            tool: tool.map(|pattern| Pattern::new(pattern.get_ref())),
            calls,
            burst: table.burst.as_ref().map(|burst| burst.get_ref().0 as u64),
            running: table.running.map(|running| running.0 as u64),
            bytes,
            fuel,
        }
    }

    fn rate(&mut self, given: Option<&Spanned<String>>, examples: &str) -> Option<Rate> {
        let given = given?;
        let rate = given.get_ref().parse().ok();
        if rate.is_none() {
            let found = given.get_ref();
            let message = format!("expected a rate such as {examples}, found `{found}`");
            self.problem(given.span(), message);
        }
        rate
    }

    /// Reports a quota for fuel that would never be used up, because servlets do not count it.
    fn uncounted_fuel(&mut self, endpoint: &Endpoint, entries: &[Entry], table: &QuotaSection) {
        let Some(fuel) = &table.fuel else { return };
        let is_served = |entry: &&Entry| {
            let members = endpoint.members.as_ref();
            members.is_none_or(|members| {
                members
                    .iter()
                    .any(|member| Some(member) == entry.name.as_ref())
            })
        };
        let counts = |entry: &Entry| matches!(entry.options.limits.fuel, Limit::At(_));
        let servlets = entries.iter().filter(is_served);
        if let Some(uncounted) = servlets.into_iter().find(|entry| !counts(entry)) {
            let name = uncounted.name.as_deref().unwrap_or_default();
            let message = format!("fuel is not counted for `{name}`; set `fuel` in its `limits`");
            self.problem(fuel.span(), message);
        }
    }
}
