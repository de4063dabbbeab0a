//! Variables of URI templates (RFC 6570).

use iri_string::template::UriTemplateStr;

/// The names of the variables, in their order and without repetitions. The error says what is wrong.
pub(crate) fn variables(template: &str) -> Result<Vec<&str>, String> {
    // `iri-string` 0.7.14 panics where the two bytes after a `%` end inside a character.
    let mut escapes = template.match_indices('%');
    if escapes.any(|(start, _)| !template.is_char_boundary(start + 3)) {
        return Err("invalid URI template: no two hexadecimal digits after `%`".into());
    }
    let template = UriTemplateStr::new(template).map_err(|error| {
        // `invalid URI template: expression not closed (at 8-th byte)`
        let problem = error
            .to_string()
            .replace("expression not closed", "`{` without `}`");
        let place = problem.strip_suffix("-th byte)");
        match place.and_then(|place| place.rsplit_once(" (at ")) {
            Some((problem, byte)) => format!("{problem} at byte {byte}"),
            None => problem,
        }
    })?;
    let mut names = Vec::new();
    for variable in template.variables() {
        if !names.contains(&variable.as_str()) {
            names.push(variable.as_str());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_variables_of_every_expression() {
        let names = variables("a://{+path}/{id:3}{?page,size*}{&id}");
        assert_eq!(names.unwrap(), ["path", "id", "page", "size"]);
        assert!(variables("a://b").unwrap().is_empty());
    }

    #[test]
    fn says_where_a_template_is_wrong() {
        for template in [
            "a://{",
            "a://}",
            "a://{}",
            "a://{!x}",
            "a://{a b}",
            "a://%zz",
            "a://%1",
            "a://%බ",
            "a://%1é",
            "a://{%é}",
        ] {
            let problem = variables(template).unwrap_err();
            assert!(problem.starts_with("invalid URI template: "), "{problem}");
        }
    }
}
