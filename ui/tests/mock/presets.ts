import type { ApiError, CardScripts, ChatFormat, Mode, RegexScriptRow, RenderedSection, RenderedTemplate, SamplerPreset, ScriptTrial, TemplateDocument, TemplateProblem, TemplateSummary, VariableDoc } from "../../src/lib/api/generated";
import builtInSamplers from "../../../presets/samplers/samplers.json";
import base from "../../../presets/prompts/base-roleplay.json";
import sms from "../../../presets/prompts/sms.json";
import summary from "../../../presets/prompts/summary.json";

const written = (template: object) => JSON.stringify(template, null, 2);

function document(template: { id: string; name: string; description?: string; kind?: string }, over: Partial<TemplateSummary> = {}): TemplateDocument {
	const { id, name, description = "" } = template;
	return { summary: { id, name, description, kind: template.kind === "utility" ? "utility" : "roleplay", builtIn: true, changed: false, ...over }, json: written(template) };
}

const VARIABLES: VariableDoc[] = [
	{ name: "character.name", group: "character", description: "The name the character goes by: the nickname, else the card's name", inputs: [] },
	{ name: "character.firstName", group: "character", description: "The first word of the name", inputs: ["character.name"] },
	{ name: "character.description", group: "character", description: "The card's description", inputs: [] },
	{ name: "character.shortDescription", group: "character", description: "The first sentences of the description, 200 characters at the most", inputs: ["character.description"] },
	{ name: "persona.name", group: "persona", description: "The name of the persona", inputs: [] },
	{ name: "persona.firstName", group: "persona", description: "Its first word", inputs: ["persona.name"] },
	{ name: "mode.text", group: "chat", description: "What the mode says", inputs: [] },
	{ name: "perspective.casual", group: "style", description: "How a text message is told", inputs: ["character.firstName"] },
];

const scriptJson = (over: object) => JSON.stringify({ scriptName: "", findRegex: "", replaceString: "", trimStrings: [], placement: [2], disabled: false, markdownOnly: true, promptOnly: false, runOnEdit: false, substituteRegex: 0, minDepth: null, maxDepth: null, ...over });

/** Sections of a template with sample texts, similar to those of a chat with Mira. */
export function sectionsOf(json: string): RenderedSection[] {
	const { sections = [] } = JSON.parse(json) as { sections?: { name: string; lines?: unknown[]; rules?: unknown[]; exclude?: boolean }[] };
	return sections
		.filter(({ exclude }) => !exclude)
		.map(({ name, lines = [], rules = [] }) => ({ name, text: [...lines, ...rules].map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n").replaceAll(/\$\{character\.\w+\}/g, "Mira").replaceAll(/\$\{persona\.\w+\}/g, "Wanderer") }))
		.filter(({ text }) => text)
		.map((section) => ({ ...section, tokens: Math.ceil(section.text.length / 4) }));
}

/** Templates, modes and regex scripts of the scripted engine. */
export class MockPresets {
	#templates: TemplateDocument[] = [document(base), document(sms, { changed: true }), { ...document({ ...sms, id: "letters", name: "Letters by candlelight", description: "Long letters, slowly answered." }, { builtIn: false }) }, document(summary)];
	#formats: ChatFormat[] = [
		{ id: "letters", name: "Letters", jinja: "{% for message in messages %}{{ message['content'] }}{% endfor %}", stop: ["\nYou:"], builtIn: false },
		{ id: "chatml", name: "ChatML", jinja: "{% for message in messages %}<|im_start|>{{ message['role'] }}{% endfor %}", stop: [], builtIn: true },
	];
	#samplers: SamplerPreset[] = [
		{ id: "big-o", name: "Big O", builtIn: false, values: { temperature: 0.87, top_p: 0.99, typical_p: 0.68, repeat_penalty: 1.01 } },
		{ id: "min-p", name: "Min-P", builtIn: false, values: { temperature: 1.4, min_p: 0.1, top_p: 1, top_k: 0 } },
		...(builtInSamplers as unknown as SamplerPreset[]).map(({ id, name, values }) => ({ id, name, builtIn: true, values })),
	];
	#modes: Mode[] = [
		{ name: "default", text: "", builtIn: true, changed: false },
		{ name: "study", text: "${persona.name} is studying now. Stay ${character.name}, but explain step by step.", builtIn: true, changed: false },
		{ name: "chill", text: "This is a relaxed talk. Stay ${character.name}, easy-going and in no hurry.", builtIn: true, changed: true },
		{ name: "creative", text: "${persona.name} and ${character.name} are making something up together.", builtIn: true, changed: false },
		{ name: "noir", text: "Rain, neon and short sentences.", builtIn: false, changed: false },
	];
	#scripts: RegexScriptRow[] = [
		{ id: "r1", name: "Asterisks to italics", json: scriptJson({ scriptName: "Asterisks to italics", findRegex: "/\\*(.+?)\\*/g", replaceString: "_$1_" }), enabled: true, problem: null },
		{ id: "r2", name: "Hide the metrics", json: scriptJson({ scriptName: "Hide the metrics", findRegex: "/<metrics>[\\s\\S]*?<\\/metrics>/g", replaceString: "" }), enabled: false, problem: null },
		{ id: "r3", name: "Looks behind", json: scriptJson({ scriptName: "Looks behind", findRegex: "/(?<=a)(b+)+$/" }), enabled: true, problem: "The pattern nests repetitions and could take for ever." },
	];
	#allowed = false;
	#next = 1;

	constructor(private readonly changed: () => void) {}

	op_list_templates = () => this.#templates.map((one) => one.summary);
	op_get_template = ({ id }: { id: string }) => this.#template(id);
	op_save_template = ({ id, json }: { id: string; json: string }): TemplateDocument => {
		const [problem] = this.op_check_template({ json });
		if (problem) throw { kind: "badInput", message: problem.message, hint: "Correct it, then save again." } satisfies ApiError;
		const { name, description } = JSON.parse(json) as { name: string; description: string };
		const known = this.#templates.find(({ summary }) => summary.id === id);
		const saved: TemplateDocument = { summary: { id: id || `own-${this.#next++}`, name, description, kind: "roleplay", builtIn: known?.summary.builtIn ?? false, changed: known?.summary.builtIn ?? false }, json };
		if (known) Object.assign(known, saved);
		else this.#templates.push(saved);
		this.changed();
		return saved;
	};
	op_delete_template = ({ id }: { id: string }) => {
		const known = this.#template(id);
		if (known.summary.builtIn) Object.assign(known, document(id === "sms" ? sms : base));
		else this.#templates = this.#templates.filter((one) => one !== known);
		this.changed();
	};
	op_check_template = ({ json }: { json: string }): TemplateProblem[] => {
		try {
			JSON.parse(json);
		} catch (error) {
			return [{ severity: "error", section: null, variable: null, message: String(error) }];
		}
		const unknown = /\$\{(character\.mood)\}/.exec(json);
		return unknown ? [{ severity: "error", section: "identity", variable: unknown[1] ?? null, message: "there is no variable character.mood; did you mean character.name?" }] : [];
	};
	op_render_template = ({ json }: { json: string }): RenderedTemplate => {
		const problems = this.op_check_template({ json });
		const shown = problems.some(({ section }) => section === null) ? [] : sectionsOf(json);
		return { text: shown.map(({ text }) => text).join("\n\n"), sections: shown, tokens: shown.reduce((sum, { tokens }) => sum + tokens, 0), problems };
	};
	op_template_variables = () => VARIABLES;
	op_list_chat_formats = () => this.#formats;
	op_save_chat_format = ({ format }: { format: ChatFormat }): ChatFormat => {
		const saved = { ...format, id: format.id || `format-${this.#next++}` };
		this.#formats = [saved, ...this.#formats.filter(({ id }) => id !== saved.id)];
		this.changed();
		return saved;
	};
	op_delete_chat_format = ({ id }: { id: string }) => void (this.#formats = this.#formats.filter((one) => one.id !== id));
	op_list_sampler_presets = () => this.#samplers;
	op_save_sampler_preset = ({ preset }: { preset: SamplerPreset }): SamplerPreset => {
		const saved = { ...preset, id: preset.id || `sampler-${this.#next++}` };
		this.#samplers = [...this.#samplers.filter(({ id }) => id !== saved.id), saved];
		this.changed();
		return saved;
	};
	op_delete_sampler_preset = ({ id }: { id: string }) => void (this.#samplers = this.#samplers.filter((one) => one.id !== id));
	op_export_sampler_preset = ({ id }: { id: string }) => JSON.stringify(this.#samplers.find((one) => one.id === id)?.values ?? {});
	op_list_modes = () => this.#modes;
	op_save_mode = ({ mode }: { mode: Mode }): Mode => {
		const name = mode.name.trim().toLowerCase();
		if (name === "" || /\s/.test(name)) throw { kind: "badInput", message: "The name of a mode must be one short word.", hint: "Choose a name without spaces." } satisfies ApiError;
		const known = this.#modes.find((one) => one.name === name);
		const saved = { name, text: mode.text, builtIn: known?.builtIn ?? false, changed: known?.builtIn ?? false };
		if (known) Object.assign(known, saved);
		else this.#modes.push(saved);
		this.changed();
		return saved;
	};
	op_delete_mode = ({ name }: { name: string }) => {
		const known = this.#modes.find((one) => one.name === name);
		if (known?.builtIn) known.changed = false;
		else this.#modes = this.#modes.filter((one) => one !== known);
		this.changed();
	};
	op_list_regex_scripts = () => this.#scripts;
	op_save_regex_script = ({ script }: { script: RegexScriptRow }): RegexScriptRow => {
		const known = this.#scripts.find(({ id }) => id === script.id);
		const saved = { ...script, id: script.id || `r-own-${this.#next++}`, problem: null };
		if (known) Object.assign(known, saved);
		else this.#scripts.push(saved);
		this.changed();
		return saved;
	};
	op_delete_regex_script = ({ id }: { id: string }) => void (this.#scripts = this.#scripts.filter((one) => one.id !== id));
	op_order_regex_scripts = ({ ids }: { ids: string[] }) => (this.#scripts = [...this.#scripts].sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)));
	op_try_regex_script = ({ script, sample }: { script: string; sample: string }): ScriptTrial => {
		const { findRegex, replaceString } = JSON.parse(script) as { findRegex: string; replaceString: string };
		if (findRegex.includes("+)+")) return { text: sample, hits: 0, problem: "its pattern tries too many ways to match; make nested repeats simpler", overrun: true };
		const [, pattern = findRegex, flags = ""] = /^\/(.*)\/(\w*)$/s.exec(findRegex) ?? [];
		try {
			const find = new RegExp(pattern, flags);
			const all = new RegExp(pattern, flags.replace("g", "") + "g");
			const hits = pattern === "" ? 0 : [...sample.matchAll(all)].length;
			return { text: pattern === "" ? sample : sample.replace(find, replaceString), hits: flags.includes("g") ? hits : Math.min(hits, 1), problem: null, overrun: false };
		} catch (error) {
			return { text: sample, hits: 0, problem: `its pattern is not valid: ${String(error)}`, overrun: false };
		}
	};
	op_card_scripts = ({ character }: { character: string }): CardScripts => ({ allowed: this.#allowed, scripts: character === "c1" ? this.#scripts.slice(0, 2) : [] });
	op_allow_card_scripts = ({ allowed }: { allowed: boolean }) => void (this.#allowed = allowed);

	#template(id: string): TemplateDocument {
		const known = this.#templates.find(({ summary }) => summary.id === id);
		if (!known) throw { kind: "notFound", message: "This template is no longer there." } satisfies ApiError;
		return known;
	}
}
