import type { TemplateSection, TemplateText } from "../../api/generated";

type Json = Record<string, unknown>;

/** A line in the JSON of a template: a text, or a text with a condition. */
const line = ({ text, condition }: TemplateText): unknown => (condition.trim() === "" ? text : { text, condition });

/** Fields of a section that decide its text. */
export type SectionText = Pick<TemplateSection, "lines" | "rules">;

/** The template with a change of its sections. A text that cannot be read stays as it is. */
function edit(json: string, change: (sections: Json[]) => Json[]): string {
	try {
		const template = JSON.parse(json) as Json;
		const sections = Array.isArray(template["sections"]) ? (template["sections"] as Json[]) : [];
		return JSON.stringify({ ...template, sections: change(sections) }, null, 2);
	} catch {
		return json;
	}
}

/** Changes the entry of one section. A section that is only inherited gets an entry. */
function change(json: string, name: string, with_: (section: Json) => Json): string {
	return edit(json, (sections) => {
		const known = sections.some((section) => section["name"] === name);
		return known ? sections.map((section) => (section["name"] === name ? with_(section) : section)) : [...sections, with_({ name })];
	});
}

const without = (section: Json, ...fields: string[]): Json => Object.fromEntries(Object.entries(section).filter(([key]) => !fields.includes(key)));

/** An entry that changes nothing about an inherited section is left out. */
function tidy(json: string, name: string, inherited: boolean): string {
	const isEmpty = (section: Json) => section["name"] === name && Object.keys(section).length === 1;
	return inherited ? edit(json, (sections) => sections.filter((section) => !isEmpty(section))) : json;
}

/** Turns a section on or off. */
export function setOn(json: string, { name, isInherited }: TemplateSection, on: boolean): string {
	const switched = change(json, name, (section) => (on ? without(section, "exclude") : { ...section, exclude: true }));
	return tidy(switched, name, isInherited);
}

/** Sets the condition of a section. An inherited condition can be replaced, but not removed. */
export function setCondition(json: string, { name, isInherited }: TemplateSection, condition: string): string {
	const empty = condition.trim() === "";
	const changed = change(json, name, (section) => (empty ? without(section, "condition") : { ...section, condition }));
	return tidy(changed, name, isInherited);
}

/** Sets the text of a section. The text of an inherited section is replaced. */
export function setText(json: string, { name, isInherited, heading, repeatHeading }: TemplateSection, { lines, rules }: SectionText): string {
	// Replacing the text of an inherited section would remove its heading too.
	const kept = { override: true, ...(heading === "" ? {} : { heading }), ...(repeatHeading ? { repeatHeading } : {}) };
	return change(json, name, (section) => ({
		...without(section, "lines", "rules"),
		...(isInherited ? kept : {}),
		...(lines.length > 0 ? { lines: lines.map(line) } : {}),
		...(rules.length > 0 ? { rules: rules.map(line) } : {}),
	}));
}

/** Moves a section to another place in the list. Other sections get a new order only if there is no number between. */
export function move(json: string, sections: TemplateSection[], name: string, to: number): string {
	const from = sections.findIndex((section) => section.name === name);
	const moved = sections[from];
	if (!moved || to === from || to < 0 || to >= sections.length) return json;
	const others = sections.filter((section) => section !== moved);
	const [before, after] = [others[to - 1]?.order, others[to]?.order];
	const order = between(before, after);
	if (order !== null) return change(json, name, (section) => ({ ...section, order }));
	const all = [...others.slice(0, to), moved, ...others.slice(to)];
	return all.reduce((text, section, at) => change(text, section.name, (entry) => ({ ...entry, order: (at + 1) * 10 })), json);
}

/** A whole number between two orders; `null` if there is none. */
function between(before: number | undefined, after: number | undefined): number | null {
	if (before === undefined) return after === undefined ? 10 : after - 10;
	if (after === undefined) return before + 10;
	const middle = Math.floor((before + after) / 2);
	return before < middle && middle < after ? middle : null;
}

/** Adds an empty section at the end. */
export function add(json: string, sections: TemplateSection[], name: string): string {
	const order = Math.max(0, ...sections.map((section) => section.order)) + 10;
	return edit(json, (entries) => [...entries, { name, order, lines: [""] }]);
}

/** Removes the template's own entry. An inherited section becomes as it was. */
export function remove(json: string, name: string): string {
	return edit(json, (sections) => sections.filter((section) => section["name"] !== name));
}

/** A name that no section has: `section`, `section2`, `section3`. */
export function freeName(sections: TemplateSection[]): string {
	const taken = new Set(sections.map(({ name }) => name));
	const names = ["section", ...sections.map((_, at) => `section${at + 2}`)];
	return names.find((name) => !taken.has(name)) ?? `section${sections.length + 2}`;
}

/** Whether the JSON has a syntax error, so that the form cannot change it. */
export function isUnreadable(json: string): boolean {
	try {
		JSON.parse(json);
		return false;
	} catch {
		return true;
	}
}
