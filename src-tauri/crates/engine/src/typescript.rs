//! Generates the TypeScript client from the list of operations and the API types.

use std::fmt::Write as _;

use specta::datatype::DataType;
use specta::{Type, Types};
use specta_typescript::{Error, Exporter, Typescript};

use crate::api::*;

struct Operation {
    name: &'static str,
    docs: &'static [&'static str],
    args: Vec<(&'static str, DataType)>,
    result: DataType,
}

macro_rules! describe {
    ($($(#[doc = $doc:literal])* $($room:ident).+: $name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        fn operations(types: &mut Types) -> Vec<Operation> {
            vec![$(Operation {
                name: stringify!($name),
                docs: &[$($doc),*],
                args: vec![$((stringify!($arg), <$ty as Type>::definition(types))),*],
                result: <$result as Type>::definition(types),
            }),*]
        }
    };
}
crate::operations!(describe);

/// The text of `ui/src/lib/api/generated.ts`.
///
/// # Errors
/// If a type cannot be written in TypeScript, such as a 64-bit integer.
pub fn client() -> Result<String, Error> {
    let mut types = Types::default();
    let operations = std::sync::Arc::new(operations(&mut types));
    // These types are used by the UI without being an argument or a result of an operation.
    Event::definition(&mut types);
    ApiError::definition(&mut types);
    ImportReport::definition(&mut types);
    CardFormat::definition(&mut types);
    ChatFileFormat::definition(&mut types);
    LorebookFormat::definition(&mut types);
    PromptFile::definition(&mut types);

    Exporter::from(Typescript::default())
        .header("// Made from the Rust types by `cargo test -p engine typescript`; do not edit.\n")
        .framework_runtime(move |exporter| {
            let mut text = String::from(
                "/** Sends one operation to the engine; rejects with an `ApiError`. */\n\
                 export type Call = (operation: string, args: Record<string, unknown>) => Promise<unknown>;\n\n\
                 /** Every operation of the engine, typed. */\n\
                 export function client(call: Call) {\n\treturn {\n",
            );
            for operation in operations.iter() {
                let args = operation
                    .args
                    .iter()
                    .map(|(name, ty)| Ok(format!("{}: {}", camel(name), exporter.reference(ty)?)))
                    .collect::<Result<Vec<_>, Error>>()?
                    .join(", ");
                let names = operation.args.iter().map(|(name, _)| camel(name)).collect::<Vec<_>>().join(", ");
                let result = match exporter.reference(&operation.result)? {
                    unit if unit == "null" => "void".to_owned(),
                    other => other,
                };
                if !operation.docs.is_empty() {
                    let docs = operation.docs.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
                    let _ = writeln!(text, "\t\t/** {docs} */");
                }
                let _ = writeln!(
                    text,
                    "\t\t{}: ({args}) => call(\"{}\", {{ {names} }}) as Promise<{result}>,",
                    camel(operation.name),
                    operation.name,
                );
            }
            text.push_str("\t};\n}\n\nexport type Client = ReturnType<typeof client>;\n");
            Ok(text.into())
        })
        .export(&types, specta_serde::Format)
        .map(|text| with_distinct_ids(&text))
}

/// Makes the ids of the exported types distinct. TypeScript refuses a `ChatId` in the place of a
/// `MessageId`, and accepts a plain string for either.
fn with_distinct_ids(text: &str) -> String {
    let line = |line: &str| {
        let name = line
            .strip_prefix("export type ")
            .and_then(|rest| rest.strip_suffix(" = string;"))
            .filter(|name| name.ends_with("Id"));
        match name {
            Some(name) => {
                format!("export type {name} = string & {{ readonly id?: \"{name}\" }};\n")
            }
            None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

fn camel(snake: &str) -> String {
    let mut words = snake.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The client is committed. Run with `UPDATE_GENERATED=1` to write it again.
    #[test]
    fn the_typescript_client_is_up_to_date() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/src/lib/api/generated.ts");
        let wanted = super::client().unwrap();
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &wanted).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == wanted,
            "ui/src/lib/api/generated.ts is stale; run UPDATE_GENERATED=1 cargo test -p engine typescript"
        );
    }
}
