import type { TemplateSection, TemplateText } from "../../src/lib/api/generated";

type Line = string | { text: string; condition: string };
interface Entry {
	name: string;
	order?: number;
	condition?: string;
	exclude?: boolean;
	required?: boolean;
	heading?: string;
	lines?: Line[];
	rules?: Line[];
}

const text = (line: Line): TemplateText => (typeof line === "string" ? { text: line, condition: "" } : line);

/** The sections that a template inherits if it extends another one. */
const INHERITED: Entry[] = [
	{ name: "identity", order: 10, lines: ["You are ${character.name}, talking with ${persona.name}."] },
	{ name: "rules", order: 20, required: true, rules: ["Answer in one to four short sentences.", { text: "${nlp}", condition: "useNLP" }] },
	{ name: "scene", order: 60, condition: "includeScene", lines: ["Place: ${scene}"] },
];

/** Reads the sections of a template for the form, like the engine, but without parents of parents. */
export class MockTemplateSections {
	op_template_sections = ({ json }: { json: string }): TemplateSection[] => {
		const template = JSON.parse(json) as { extends?: string; sections?: Entry[] };
		const own = template.sections ?? [];
		const parents = template.extends ? INHERITED : [];
		const names = [...new Set([...parents, ...own].map(({ name }) => name))];
		const merged = names.map((name) => {
			const parent = parents.find((one) => one.name === name);
			const child = own.find((one) => one.name === name);
			const both = { ...parent, ...child };
			const section: TemplateSection = { name, order: both.order ?? 0, condition: both.condition ?? "", heading: both.heading ?? "", repeatHeading: false, lines: (both.lines ?? []).map(text), rules: (both.rules ?? []).map(text), isRequired: both.required === true, isOn: child?.exclude !== true, isOwn: child !== undefined, isInherited: parent !== undefined };
			return section;
		});
		return merged.sort((a, b) => a.order - b.order || a.name.localeCompare(b.name));
	};
}
