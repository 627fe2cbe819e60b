-- Searches fold more letters: iteration marks, decomposed and half-width forms, ligatures, symbols. All texts are indexed
-- again, because a text leaves the index by the terms with which it entered.
INSERT INTO swipe_search (swipe_search) VALUES ('delete-all');
INSERT INTO swipe_search (rowid, words, letters)
    SELECT number, search_words(text), search_letters(text)
    FROM swipe_number JOIN swipe ON swipe.id = swipe_number.swipe ORDER BY number;
INSERT INTO search_item_words (search_item_words) VALUES ('delete-all');
INSERT INTO search_item_words (rowid, kind, words, letters)
    SELECT number, kind, search_words(title || char(10) || text), search_letters(title || char(10) || text)
    FROM search_item ORDER BY number;
-- The app describes cards without a row again.
DELETE FROM listing;
