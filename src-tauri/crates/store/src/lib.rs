//! One SQLite file: tables, migrations, assets, backups.
