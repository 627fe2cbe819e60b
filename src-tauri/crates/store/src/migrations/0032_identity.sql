-- "INGL" in ASCII distinguishes our file from another program's database.
PRAGMA application_id = 1229866828;
