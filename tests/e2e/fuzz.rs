//! Replays the fuzzing corpus without libFuzzer.

use std::fs;

use e2e::root;

#[test]
fn every_reader_survives_its_corpus() {
    for (name, run) in fuzz::TARGETS {
        let corpus = root().join("tests/fuzz/corpus").join(name);
        let entries = fs::read_dir(corpus).expect("each target has a corpus");
        let mut inputs = 0;
        for entry in entries {
            run(&fs::read(entry.expect("a file").path()).expect("a file"));
            inputs += 1;
        }
        assert!(inputs > 3, "{name}");
    }
}
