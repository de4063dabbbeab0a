//! Quotas on a clock that the tests set.

use super::{table::MAX_BUCKETS, *};

fn quota(per: Per) -> Quota {
    Quota {
        per,
        tool: None,
        calls: None,
        burst: None,
        running: None,
        bytes: None,
        fuel: None,
    }
}

fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}

fn quotas(all: Vec<Quota>) -> Arc<Quotas> {
    Arc::new(Quotas::new(all))
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// How many calls can begin one after another.
fn calls(quotas: &Arc<Quotas>, owner: Option<Owner>, now: Instant) -> usize {
    let begin = || quotas.begin(owner, Some("t"), now).ok();
    std::iter::from_fn(begin).take(1000).count()
}

#[test]
fn a_burst_and_then_the_rate() {
    let start = Instant::now();
    let calls_per_minute = Quota {
        calls: Some(rate("60/m")),
        burst: Some(20),
        ..quota(Per::Caller)
    };
    let quotas = quotas(vec![calls_per_minute]);
    assert_eq!(calls(&quotas, Some(Owner::numbered(1)), start), 20);
    let exceeded = quotas
        .begin(Some(Owner::numbered(1)), Some("t"), start)
        .expect_err("used");
    assert_eq!(exceeded.quota, "calls 60/m per caller");
    assert_eq!(exceeded.seconds(), 1);
    assert_eq!(
        exceeded.to_string(),
        "too many calls of this server: the limit is 60 in a minute; try again in 1 s"
    );
    assert_eq!(
        calls(&quotas, Some(Owner::numbered(1)), start + seconds(1)),
        1
    );
    assert_eq!(
        calls(&quotas, Some(Owner::numbered(1)), start + seconds(3)),
        2
    );
    assert_eq!(calls(&quotas, Some(Owner::numbered(2)), start), 20);
    assert_eq!(calls(&quotas, None, start), 20);
    assert_eq!(
        calls(&quotas, Some(Owner::numbered(1)), start + seconds(3600)),
        20
    );
}

#[test]
fn after_the_time_that_it_names_a_call_succeeds() {
    let start = Instant::now();
    for text in ["10/h", "7/m", "3/s", "1/d", "1000000/d"] {
        let calls_only = Quota {
            calls: Some(rate(text)),
            burst: Some(1),
            ..quota(Per::Endpoint)
        };
        let quotas = quotas(vec![calls_only]);
        assert_eq!(calls(&quotas, None, start), 1, "{text}");
        let exceeded = quotas.begin(None, None, start).expect_err("used");
        let retry = start + seconds(exceeded.seconds());
        assert!(quotas.begin(None, None, retry).is_ok(), "{text}");
    }
}

#[test]
fn a_clock_that_goes_back_gives_nothing() {
    let before = Instant::now();
    let start = before + seconds(5);
    let one = Quota {
        calls: Some(rate("1/s")),
        ..quota(Per::Endpoint)
    };
    let quotas = quotas(vec![one]);
    assert_eq!(calls(&quotas, None, start), 1);
    assert_eq!(calls(&quotas, None, before), 0);
    assert_eq!(calls(&quotas, None, start), 0);
}

#[test]
fn a_call_takes_from_all_quotas_or_from_none() {
    let start = Instant::now();
    let pay = Quota {
        tool: Some(Pattern::new("pay_*")),
        calls: Some(rate("1/h")),
        ..quota(Per::Caller)
    };
    let all = Quota {
        calls: Some(rate("3/h")),
        ..quota(Per::Endpoint)
    };
    let quotas = quotas(vec![all, pay]);
    let begin = |tool| quotas.begin(Some(Owner::numbered(1)), Some(tool), start);
    assert!(begin("pay_out").is_ok());
    for _ in 0..5 {
        let exceeded = begin("pay_in").expect_err("one call of `pay_*`");
        assert_eq!(exceeded.quota, "calls 1/h of pay_* per caller");
        assert_eq!(
            exceeded.to_string(),
            "too many calls of `pay_*`: the limit is 1 in an hour; try again in 3600 s"
        );
    }
    assert!(begin("t").is_ok() && begin("t").is_ok());
    assert_eq!(
        begin("t").expect_err("three").quota,
        "calls 3/h per endpoint"
    );
    // A read does not count for `pay_*`, but for the endpoint.
    assert!(quotas.begin(None, None, start).is_err());
}

#[test]
fn running_calls_count_until_their_permits_are_dropped() {
    let start = Instant::now();
    let two = Quota {
        running: Some(2),
        ..quota(Per::Caller)
    };
    let quotas = quotas(vec![two]);
    let begin = |number| quotas.begin(Some(Owner::numbered(number)), Some("t"), start);
    let (first, second) = (begin(1).expect("one"), begin(1).expect("two"));
    let exceeded = begin(1).expect_err("three");
    assert_eq!(exceeded.quota, "running 2 per caller");
    assert_eq!(
        exceeded.to_string(),
        "too many calls of this server run: the limit is 2 at once; try again in 1 s"
    );
    assert!(begin(2).is_ok());
    drop(first);
    let third = begin(1).expect("room");
    assert!(begin(1).is_err());
    drop((second, third));
    assert!(begin(1).is_ok());
}

#[test]
fn bytes_and_fuel_are_charged_after_the_call() {
    let start = Instant::now();
    let used = Quota {
        bytes: Some(rate("1KiB/m")),
        fuel: Some(rate("1e6/m")),
        ..quota(Per::Endpoint)
    };
    let quotas = quotas(vec![used]);
    let spend = |bytes, fuel, now| {
        let permit = quotas.begin(None, Some("t"), now);
        permit.map(|permit| permit.charge(Spent { bytes, fuel }, now))
    };
    assert_eq!(spend(1023, 0, start), Ok(()));
    // One byte is left, so this call runs, and what it took is missing afterwards.
    assert_eq!(spend(2048, 0, start), Ok(()));
    let exceeded = spend(0, 0, start).expect_err("no byte is left");
    assert_eq!(exceeded.quota, "bytes 1KiB/m per endpoint");
    assert_eq!(exceeded.seconds(), 120);
    let later = start + seconds(120);
    assert_eq!(spend(0, 3_000_000, later), Ok(()));
    let exceeded = spend(0, 0, later).expect_err("no fuel is left");
    assert_eq!(exceeded.quota, "fuel 1000000/m per endpoint");
    assert_eq!(exceeded.seconds(), 121);
}

#[test]
fn buckets_without_running_calls_are_forgotten() {
    let start = Instant::now();
    let one = Quota {
        calls: Some(rate("1/h")),
        ..quota(Per::Caller)
    };
    let quotas = quotas(vec![one]);
    let running = quotas
        .begin(Some(Owner::numbered(0)), Some("t"), start)
        .expect("a permit");
    for number in 1..u32::try_from(MAX_BUCKETS + 10).expect("a number") {
        let now = start + Duration::from_millis(number.into());
        assert!(
            quotas
                .begin(Some(Owner::numbered(number)), Some("t"), now)
                .is_ok()
        );
    }
    let count = |quotas: &Quotas| quotas.table.lock().expect("no panic").len();
    assert!(count(&quotas) <= MAX_BUCKETS);
    let now = start + seconds(200);
    let last = u32::try_from(MAX_BUCKETS).expect("a number");
    assert!(
        quotas
            .begin(Some(Owner::numbered(0)), Some("t"), now)
            .is_err()
    );
    assert!(
        quotas
            .begin(Some(Owner::numbered(last)), Some("t"), now)
            .is_err()
    );
    // It is full again, because it was forgotten.
    assert!(
        quotas
            .begin(Some(Owner::numbered(1)), Some("t"), now)
            .is_ok()
    );
    drop(running);
}

#[test]
fn reads_and_writes_rates() {
    for (text, amount, shown, in_units) in [
        ("60/m", 60, "60/m", "60/m"),
        ("1024/s", 1024, "1024/s", "1KiB/s"),
        ("1GiB/h", 1 << 30, "1073741824/h", "1GiB/h"),
        ("1e6/d", 1_000_000, "1000000/d", "1000000/d"),
    ] {
        let rate = rate(text);
        assert_eq!(rate.amount, amount, "{text}");
        let written = (rate.to_string(), rate.in_units());
        assert_eq!(written, (shown.to_owned(), in_units.to_owned()), "{text}");
    }
    for wrong in [
        "60",
        "60/",
        "/m",
        "0/m",
        "-1/m",
        "+1/m",
        "1.5/m",
        "60/min",
        "1 /m",
        "1e99/s",
        "e3/s",
        "1GB/h",
        "99999999TiB/h",
    ] {
        assert_eq!(wrong.parse::<Rate>(), Err(()), "{wrong}");
    }
}
