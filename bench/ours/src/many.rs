//! Twenty-one tools of three arguments each.

tools! {
    create_note "Creates a note." {
        title "the title of the note",
        body "the text of the note, if it has one",
        priority "how urgent it is, 1 is most",
    }
    send_message "Sends a message to one person." {
        recipient "who gets the message",
        subject "what it is about, if that matters",
        retries "how often to try again",
    }
    book_table "Books a table in a restaurant." {
        restaurant "the name of the restaurant",
        occasion "what there is to celebrate",
        guests "how many people come",
    }
    play_song "Plays a song." {
        song "the title of the song",
        artist "who performs it, if several do",
        volume "how loud, from 0 to 100",
    }
    set_alarm "Sets an alarm." {
        time "when it rings, as hours and minutes",
        label "what to show when it rings",
        repeats "how often it rings again",
    }
    find_flight "Finds the cheapest flight." {
        destination "the airport to arrive at",
        airline "the only airline to look at",
        passengers "how many people travel",
    }
    order_pizza "Orders a pizza." {
        kind "the name on the menu",
        remark "what the kitchen should know",
        slices "how many slices to cut it into",
    }
    water_plant "Waters a plant." {
        plant "which plant to water",
        fertilizer "what to put into the water",
        millilitres "how much water it gets",
    }
    track_parcel "Says where a parcel is." {
        tracking_code "the number on the receipt",
        carrier "who carries it, if known",
        days_back "how many days of events to list",
    }
    rent_bike "Rents a bike." {
        station "where to pick it up",
        return_station "where to leave it, if elsewhere",
        minutes "how long the ride takes",
    }
    paint_wall "Paints a wall." {
        colour "the colour of the paint",
        finish "matt, satin or gloss",
        coats "how many coats of it",
    }
    read_page "Reads one page of a document." {
        document "the name of the document",
        language "the language to read it in",
        page "which page, from 1",
    }
    brew_coffee "Brews coffee." {
        roast "which beans to take",
        milk "what kind of milk, if any",
        cups "how many cups",
    }
    score_game "Notes a result of a game." {
        winner "who won",
        opponent "who lost, if there was somebody",
        points "how many points the winner made",
    }
    plan_walk "Plans a walk." {
        start "where it begins",
        through "a place to pass on the way",
        kilometres "how long it should be",
    }
    hire_expert "Hires an expert." {
        field "what the expert knows about",
        city "where the work is, if on site",
        hours "how many hours of work there are",
    }
    mix_drink "Mixes a drink." {
        base "what it consists of mostly",
        garnish "what goes on top of it",
        strength "how strong it is, from 0 to 10",
    }
    store_box "Stores a box in the warehouse." {
        contents "what is in the box",
        shelf "where to put it, if you care",
        weight "its weight in kilograms",
    }
    teach_word "Teaches a word." {
        word "the word to learn",
        example "a sentence that uses it",
        lesson "the number of the lesson",
    }
    cook_meal "Cooks a meal." {
        recipe "what to cook",
        diet "what the guests do not eat",
        portions "how many portions to make",
    }
    file_report "Files a report." {
        headline "what happened, in one line",
        details "everything else that is known",
        severity "how bad it is, from 1 to 5",
    }
}
