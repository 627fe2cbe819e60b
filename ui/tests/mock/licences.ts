const RULE = "=".repeat(100);

/** A short list in the form of `cargo xtask bundle`. */
export const LICENCES = `Third-party licences of Inglenook

${RULE}
Literata 5.3.0

This Font Software is licensed under the SIL Open Font License, Version 1.1.

${RULE}
serde 1.0.229, serde_json 1.0.151

Permission is hereby granted, free of charge, to any person obtaining a copy of this software.
`;
