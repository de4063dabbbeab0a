//! An index of the words of tools, searched with BM25.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::Tool;

/// BM25's k1: a smaller value makes repeated words count less.
const SATURATION: f64 = 1.2;
/// BM25's b: how much long texts are discounted.
const LENGTH: f64 = 0.75;
/// The weight of a word in a tool's name; other words have 1.
const IN_NAME: f64 = 3.0;

/// The words of tools, which have the numbers from 0.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The tools that have a word, and how much it counts there.
    tools_of: HashMap<String, Vec<(usize, f64)>>,
    /// How much all words of each tool count.
    lengths: Vec<f64>,
}

impl Index {
    /// An index of tools and the names of their members.
    pub(super) fn of<'t>(tools: impl Iterator<Item = (&'t Tool, &'t str)>) -> Self {
        let mut index = Self::default();
        for (number, (tool, member)) in tools.enumerate() {
            let mut counts: HashMap<String, f64> = HashMap::new();
            let mut add = |text: &str, count: f64| {
                for word in words(text) {
                    *counts.entry(word).or_default() += count;
                }
            };
            add(tool.name(), IN_NAME);
            add(member, 1.0);
            add(tool.title().unwrap_or_default(), 1.0);
            add(tool.description().unwrap_or_default(), 1.0);
            let arguments = tool.input_schema().get("properties");
            for (name, schema) in arguments.and_then(Value::as_object).into_iter().flatten() {
                add(name, 1.0);
                add(schema["description"].as_str().unwrap_or_default(), 1.0);
            }
            index.lengths.push(counts.values().sum());
            for (word, count) in counts {
                let tools = index.tools_of.entry(word).or_default();
                tools.push((number, count));
            }
        }
        index
    }

    /// The tools that have a word of the query, the best first. Equally good ones keep their order. Tools that are not
    /// shown do not influence the order of the others.
    pub(super) fn find(&self, query: &str, is_shown: &[bool]) -> Vec<usize> {
        let lengths = self
            .lengths
            .iter()
            .zip(is_shown)
            .filter_map(|(length, is_shown)| is_shown.then_some(*length));
        let (count, total) = lengths.fold((0.0, 0.0), |(count, total), length| {
            (count + 1.0, total + length)
        });
        let mean = total / f64::max(count, 1.0);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        let mut seen = HashSet::new();
        for word in words(query).filter(|word| seen.insert(word.clone())) {
            let tools: Vec<_> = self
                .tools_of
                .get(&word)
                .into_iter()
                .flatten()
                .filter(|(tool, _)| is_shown[*tool])
                .collect();
            #[expect(clippy::cast_precision_loss, reason = "there are fewer tools")]
            let having = tools.len() as f64;
            let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
            for (tool, weight) in tools {
                let length = 1.0 - LENGTH + LENGTH * self.lengths[*tool] / mean;
                let score = weight * (SATURATION + 1.0) / (weight + SATURATION * length);
                *scores.entry(*tool).or_default() += rarity * score;
            }
        }
        let mut found: Vec<_> = scores.into_iter().collect();
        found.sort_by(|(one, score), (other, better)| {
            better.total_cmp(score).then_with(|| one.cmp(other))
        });
        found.into_iter().map(|(tool, _)| tool).collect()
    }
}

/// The words of a text, in the form in which they are compared.
fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|one: char| !one.is_alphanumeric());
    runs.flat_map(parts).flat_map(|part| {
        if part.chars().all(is_ideographic) {
            pairs(part)
        } else {
            vec![singular(part.to_lowercase())]
        }
    })
}

/// The parts of a run of letters and digits: it is split where the case changes, as in `getHTTPHeaders`, and where a script without
/// spaces begins or ends.
fn parts(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        let (part, after) = rest.split_at(end_of_part(rest));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

fn end_of_part(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    let mut before: Option<char> = None;
    while let Some((at, letter)) = letters.next() {
        if let Some(before) = before {
            let next = letters.peek().map(|(_, next)| *next);
            let is_new_word = letter.is_uppercase()
                && (!before.is_uppercase() || next.is_some_and(char::is_lowercase));
            if is_new_word || is_ideographic(before) != is_ideographic(letter) {
                return at;
            }
        }
        before = Some(letter);
    }
    text.len()
}

/// Whether a letter is of a script that writes words without spaces: Chinese, Japanese, Korean.
fn is_ideographic(letter: char) -> bool {
    matches!(letter,
        '\u{1100}'..='\u{11FF}' | '\u{3040}'..='\u{30FF}' | '\u{3130}'..='\u{318F}' | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FF9F}' | '\u{20000}'..='\u{3FFFF}')
}

/// Each two letters that follow each other, or a single letter.
fn pairs(part: &str) -> Vec<String> {
    let letters: Vec<char> = part.chars().collect();
    let size = letters.len().min(2);
    letters.windows(size).map(String::from_iter).collect()
}

/// An English word without the ending of its plural. Other words may change as well, but always in the same way.
fn singular(mut word: String) -> String {
    let is_plural =
        word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    if !word.is_ascii() || word.len() < 3 {
        return word;
    }
    if is_plural {
        word.pop();
    }
    if ["che", "she", "sse", "xe", "ze"]
        .iter()
        .any(|end| word.ends_with(end))
    {
        word.pop();
    } else if word.ends_with("ie") && word.len() > 3 {
        word.truncate(word.len() - 2);
        word.push('y');
    }
    word
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Tools with these names.
    fn tools(names: &[String]) -> Vec<Tool> {
        let tools = names.iter().map(|name| {
            let tool = serde_json::json!({ "name": name, "inputSchema": {} });
            Tool::new(tool.as_object().cloned().expect("an object")).expect("a tool")
        });
        tools.collect()
    }

    fn index<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Index {
        Index::of(tools.into_iter().map(|tool| (tool, "s")))
    }

    proptest! {
        #[test]
        fn tools_that_are_not_shown_change_nothing(
            names in vec(("([abc]_){1,5}", any::<bool>()), 1..20),
            query in "([abcs] ){0,4}",
        ) {
            let (names, is_shown): (Vec<_>, Vec<_>) = names.into_iter().unzip();
            let tools = tools(&names);
            let found = index(&tools).find(&query, &is_shown);
            let shown: Vec<_> = (0..tools.len()).filter(|at| is_shown[*at]).collect();
            let alone = index(shown.iter().map(|at| &tools[*at]));
            let expected: Vec<_> = alone.find(&query, &vec![true; shown.len()]).into_iter().map(|at| shown[at]).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn rare_words_and_names_count_more() {
        let names = ["get_page", "get_user", "get_page_of_user_in_space", "list"];
        let tools = tools(&names.map(str::to_owned));
        let find = |query: &str| {
            let found = index(&tools).find(query, &[true; 4]).into_iter();
            found.map(|at| names[at]).collect::<Vec<_>>()
        };
        assert_eq!(
            find("getPages"),
            ["get_page", "get_page_of_user_in_space", "get_user"]
        );
        assert_eq!(
            find("a page of users"),
            ["get_page_of_user_in_space", "get_page", "get_user"]
        );
        assert_eq!(find("weather"), [""; 0]);
    }

    fn split(text: &str) -> Vec<String> {
        words(text).collect()
    }

    #[test]
    fn names_and_sentences_have_the_same_words() {
        for (text, expected) in [
            ("getHTTPHeaders", &["get", "http", "header"][..]),
            ("list_open-issues.v2", &["list", "open", "issue", "v2"]),
            ("Straße ÄRGER", &["straße", "ärger"]),
            ("", &[]),
            (" -- ", &[]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    #[test]
    fn scripts_without_spaces_have_pairs_of_letters() {
        for (text, expected) in [
            ("天気予報", &["天気", "気予", "予報"][..]),
            ("天", &["天"]),
            ("GitHubの課題", &["git", "hub", "の課", "課題"]),
            ("날씨 예보", &["날씨", "예보"]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    #[test]
    fn plurals_are_equal_to_their_words() {
        for (plural, word) in [
            ("issues", "issue"),
            ("files", "file"),
            ("databases", "database"),
            ("boxes", "box"),
            ("matches", "match"),
            ("caches", "cache"),
            ("classes", "class"),
            ("queries", "query"),
            ("movies", "movie"),
            ("ids", "id"),
            ("notes", "note"),
        ] {
            assert_eq!(split(plural), split(word), "{plural}");
        }
        for (one, other) in [("note", "not"), ("status", "statu"), ("is", "i")] {
            assert_ne!(split(one), split(other), "{one}");
        }
    }
}
