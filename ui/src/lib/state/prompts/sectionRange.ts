/** The range of a section's name in the JSON of a template, in character offsets; `null` if it is not found. */
export function sectionRange(json: string, section: string): [from: number, to: number] | null {
	const start = Math.max(0, json.indexOf('"sections"'));
	const name = JSON.stringify(section).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
	const found = new RegExp(`"name"\\s*:\\s*${name}`).exec(json.slice(start));
	return found ? [start + found.index, start + found.index + found[0].length] : null;
}

/** Line of the character at `offset`, starting at 0. */
export function lineAt(text: string, offset: number): number {
	return text.slice(0, offset).split("\n").length - 1;
}
