//! One tool of three arguments.

tools! {
    create_note "Creates a note." {
        title "the title of the note",
        body "the text of the note, if it has one",
        priority "how urgent it is, 1 is most",
    }
}
