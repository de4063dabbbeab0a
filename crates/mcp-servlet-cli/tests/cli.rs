//! Transcripts of the command, under `tests/cmd`.

#[test]
fn commands_do_what_their_transcripts_say() {
    trycmd::TestCases::new()
        .case("tests/cmd/*.trycmd")
        .case("tests/cmd/*.toml");
}
