/** A parsed draft: text or a command. `//mode` sends `/mode` as text. */
export type Typed = { kind: "words"; text: string } | { kind: "mode"; name: string } | { kind: "impersonate" } | { kind: "unknown"; command: string };

/** Commands that the composer knows, without the slash. */
export const COMMANDS = ["mode", "impersonate"] as const;

/** Slash words that are ordinary text: many people write actions as `/me waves`. */
const WORDS = ["me"];

export function typed(draft: string): Typed {
	const [, slashes, command, argument = ""] = /^(\/{1,2})(\p{L}+)(?:\s+([\s\S]*))?$/u.exec(draft.trim()) ?? [];
	if (command === undefined || WORDS.includes(command)) return { kind: "words", text: draft };
	if (slashes === "//") return { kind: "words", text: draft.trim().slice(1) };
	if (!COMMANDS.some((known) => known === command)) return { kind: "unknown", command };
	if (command === "mode") return { kind: "mode", name: argument.trim() };
	return argument.trim() === "" ? { kind: "impersonate" } : { kind: "words", text: draft };
}

/** The completion text of a command. If the command needs a name, the text ends in a space. */
const offered = (command: (typeof COMMANDS)[number]) => (command === "mode" ? "/mode " : `/${command}`);

/** Completions for the draft. */
export function completions(draft: string, modes: readonly string[]): string[] {
	const [, command, space, argument = ""] = /^\/(\p{L}*)(?:(\s+)(\S*))?$/u.exec(draft) ?? [];
	if (command === undefined) return [];
	if (space === undefined) return COMMANDS.map(offered).filter((known) => known.startsWith(draft) && known !== draft);
	if (command !== "mode") return [];
	const begun = argument.toLocaleLowerCase();
	return modes.filter((mode) => mode.toLocaleLowerCase().startsWith(begun) && mode !== argument).map((mode) => `/mode ${mode}`);
}
