import type { PromptSections } from "../../src/lib/api/generated";

const SECTIONS: [name: string, tokens: number][] = [["identity", 14], ["rules", 96], ["loreBefore", 40], ["description", 180], ["personality", 30], ["scenario", 60], ["persona", 48], ["examples", 150], ["memory", 20], ["myOwnSectionWithAVeryLongNameThatNeverEnds", 12]];

/** The sections of the prompt template, with the sizes of their texts. */
export class MockSections {
	readonly #off = new Set<string>();

	op_prompt_sections = (): PromptSections => ({
		template: "Base Role-play",
		sections: SECTIONS.map(([name]) => ({ name, isRequired: name === "rules", isOn: !this.#off.has(name) })),
		tokens: 400 + SECTIONS.reduce((sum, [name, tokens]) => sum + (this.#off.has(name) ? 0 : tokens), 0),
	});

	op_set_prompt_section = ({ name, on }: { name: string; on: boolean }): PromptSections => {
		if (on) this.#off.delete(name);
		else this.#off.add(name);
		return this.op_prompt_sections();
	};
}
